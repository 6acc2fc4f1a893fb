extension SystemdClient {
    /// The loaded units whose names match a pattern as systemctl(1) takes it, such as `clientsecretd*.socket`.
    ///
    /// - Parameter states: one of which they are in, such as `failed`; none: any.
    package mutating func units(
        matching pattern: String, inStates states: [String] = []
    ) throws(UnitError) -> [String] {
        let found = try call("ListUnitsByPatterns", of: Self.manager, [.texts(states), .texts([pattern])])
        return try found.items("ssssssouso").map(\.name).sorted()
    }
}
