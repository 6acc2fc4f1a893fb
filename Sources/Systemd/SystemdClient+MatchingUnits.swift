extension SystemdClient {
    /// The loaded units whose names match a pattern, of any state.
    package mutating func loadedUnits(matching pattern: String) throws(UnitError) -> [String] {
        let found = try call("ListUnitsByPatterns", of: Self.manager, [.texts([]), .texts([pattern])])
        return try found.firstTexts(rest: "sssssouso").sorted()
    }

    /// The units in state `failed` whose names match a pattern as systemctl(1) takes it, such as `clientsecretd*.socket`.
    package mutating func failedUnits(matching pattern: String) throws(UnitError) -> [String] {
        let found = try call("ListUnitsByPatterns", of: Self.manager, [.texts(["failed"]), .texts([pattern])])
        return try found.firstTexts(rest: "sssssouso").sorted()
    }
}
