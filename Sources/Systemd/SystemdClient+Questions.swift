import Linux

/// Requests to systemd about its units, and to read their files again.
extension SystemdClient {
    /// systemd's answer to some requests; nil if it cannot be asked. Blocks.
    ///
    /// - Parameter milliseconds: how long all of them may take together.
    package static func ask<Value>(
        within milliseconds: Int64 = UnitTimeouts.answer, _ questions: (inout SystemdClient) throws(UnitError) -> Value?
    ) -> Value? {
        do throws(UnitError) {
            var systemd = try SystemdClient(timeout: milliseconds, cancel: nil)
            return try questions(&systemd)
        } catch {
            return nil
        }
    }

    /// The unit's own name, if `unit` is an alias; `unit` itself if systemd cannot be asked. Blocks.
    package static func ownName(of unit: String) -> String {
        ask(within: UnitTimeouts.name) { systemd throws(UnitError) in try systemd.ownName(of: unit) } ?? unit
    }

    /// The unit's own name; `unit` may be an alias.
    package mutating func ownName(of unit: String) throws(UnitError) -> String {
        try property("Id", of: target(unit)).text
    }

    /// `enabled`, `disabled`, `static` and so on; empty if there is no such unit.
    package mutating func enablement(of unit: String) throws(UnitError) -> String {
        try property("UnitFileState", of: target(unit)).text
    }

    /// The path at which a socket unit listens first, whose socket is the one that a service takes; nil if it has none, or there is
    /// no such unit.
    package mutating func path(ofSocket unit: String) throws(UnitError) -> String? {
        guard try state(of: unit).load == "loaded" else { return nil }
        let properties = try target(unit)
        let listens = try property("Listen", of: properties, in: "org.freedesktop.systemd1.Socket").items
        return listens.first { $0.name == "Stream" }?.path.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// Has systemd read its units' files again (`systemctl daemon-reload`).
    package mutating func reloadUnits() throws(UnitError) {
        _ = try checked(reply("Reload", of: Self.manager, []))
    }

    /// A service's settings as systemd has loaded them; nil when there is no such unit.
    package mutating func settings(of service: String) throws(UnitError) -> UnitSettings? {
        guard try state(of: service).load == "loaded" else { return nil }
        let unit = try target(service)
        let own = try property("FragmentPath", of: unit).text
        let files = try ([own] + property("DropInPaths", of: unit).words).compactMap { path -> UnitSettings.File? in
            guard let content = try? TrustedFile.read(path, for: .configuration, as: .root, limit: 1 << 20) else {
                return nil
            }
            return UnitSettings.File(path: path, text: String(decoding: content.bytes, as: UTF8.self))
        }
        let values = try call("GetAll", of: unit, [.text(Self.serviceInterface)]).properties()
        // Nothing can be compared with a file that cannot be read.
        return UnitSettings(values: values, files: files.first?.path == own ? files : [])
    }

    /// The settings of these services, but not of the package's own, by their own names. One that systemd cannot tell about is left
    /// out.
    ///
    /// - Parameter names: an alias may be among them.
    package mutating func settings(ofAll names: Set<String>) throws(UnitError) -> [String: UnitSettings] {
        var settings: [String: UnitSettings] = [:]
        for name in names {
            do throws(UnitError) {
                let own = try ownName(of: name)
                guard settings[own] == nil, !own.hasPrefix("clientsecretd") else { continue }
                settings[own] = try self.settings(of: own)
            } catch {
                switch error {
                case .unreachable, .timedOut, .cancelled: throw error
                // It is about this unit only.
                default: continue
                }
            }
        }
        return settings
    }

    /// The units that systemd restarts with a unit, that one among them by its own name: those that require it, are bound to it or
    /// are part of it, and so on.
    package mutating func restarted(with unit: String) throws(UnitError) -> Set<String> {
        var found: Set<String> = [try ownName(of: unit)]
        var rest = Array(found)
        while let next = rest.popLast() {
            let properties = try target(next)
            for relation in ["RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf"] {
                let others = try property(relation, of: properties).words
                rest += others.filter { found.insert($0).inserted }
            }
        }
        return found
    }

    /// The paths at whose changes active path units start other units (systemd.path(5)).
    package mutating func pathsWatchedForChanges() throws(UnitError) -> Set<String> {
        var found: Set<String> = []
        for unit in try units(matching: "*.path", inStates: ["active"]) {
            let watches = try property("Paths", of: target(unit), in: "org.freedesktop.systemd1.Path").items
            for watch in watches where ["PathChanged", "PathModified"].contains(watch.name) {
                if let path = watch.path { found.insert(path) }
            }
        }
        return found
    }

    /// The loaded units whose names match a pattern as systemctl(1) takes it, such as `clientsecretd*.socket`.
    ///
    /// - Parameter states: one of which they are in, such as `failed` or `running`; none: any.
    package mutating func units(
        matching pattern: String, inStates states: [String] = []
    ) throws(UnitError) -> [String] {
        let found = try call("ListUnitsByPatterns", of: Self.manager, [.texts(states), .texts([pattern])])
        return try found.items("ssssssouso").map(\.name).sorted()
    }

    /// The units with files whose names match a pattern, also those that systemd has not loaded; no templates.
    package mutating func unitFiles(matching pattern: String) throws(UnitError) -> [String] {
        let found = try call("ListUnitFilesByPatterns", of: Self.manager, [.texts([]), .texts([pattern])])
        return try found.items("ss").compactMap { $0.name.split(separator: "/").last.map(String.init) }
            .filter { !$0.contains("@.") }.sorted()
    }
}
