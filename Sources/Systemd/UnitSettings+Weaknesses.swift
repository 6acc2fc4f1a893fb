internal import Linux

/// Finds settings of a service's sandbox that are weaker in effect than in its own file.
extension UnitSettings {
    /// A setting that is weaker in effect than in the unit's own file.
    package struct Weakness: Hashable, Sendable {
        /// Such as `PrivateNetwork=no`.
        package let setting: String
        /// The drop-in that sets it; nil when none does.
        package let file: String?
    }

    /// Settings that are weaker in effect than in the unit's own file, in the order of their names.
    package var weaknesses: [Weakness] {
        guard let own = files.first else { return [] }
        let shipped = own.assignments.reduce(into: [:]) { $0[$1.name] = $1.value }
        return shipped.keys.sorted().compactMap { name in
            guard let value = values[name], let inEffect = Self.weakened(name, shipped[name] ?? "", value) else {
                return nil
            }
            let file = files.dropFirst().last { $0.assignments.contains { $0.name == name } }
            return Weakness(setting: "\(name)=\(inEffect)", file: file?.path)
        }
    }

    /// The values of settings from weak to strong; those of one rank protect alike.
    private static let ranks: [String: [[String]]] = [
        "ProtectSystem": [["no"], ["yes"], ["full"], ["strict"]],
        "ProtectHome": [["no"], ["read-only"], ["tmpfs", "yes"]],
        "ProtectProc": [["default"], ["noaccess"], ["ptraceable"], ["invisible"]],
        "ProcSubset": [["all"], ["pid"]],
        "KeyringMode": [["inherit"], ["shared"], ["private"]],
        "DevicePolicy": [["auto"], ["closed", "strict"]],
    ]

    /// The value in effect if it is weaker than the shipped one; else nil.
    private static func weakened(_ name: String, _ shipped: String, _ value: Value) -> String? {
        switch value {
        case .flag(let isOn): return !isOn && isYes(shipped) ? "no" : nil
        case .text(let text):
            guard let ranks = ranks[name], let wanted = ranks.firstIndex(where: { $0.contains(shipped) }) else {
                return nil
            }
            return ranks.firstIndex { $0.contains(text) } ?? 0 < wanted ? text : nil
        case .number(let mask):
            switch name {
            case "CapabilityBoundingSet", "AmbientCapabilities": return mask != 0 && shipped.isEmpty ? "…" : nil
            // The permission that remains.
            case "RestrictNamespaces": return mask != 0 && isYes(shipped) ? "no" : nil
            default: return nil
            }
        case .list(let words): return name == "SystemCallArchitectures" && words.isEmpty ? "" : nil
        case .items: return nil
        case .filter(let isAllowList, let words):
            guard name == "SystemCallFilter" || name == "RestrictAddressFamilies" else { return nil }
            return isAllowList && !words.isEmpty ? nil : ""
        }
    }

    private static func isYes(_ value: String) -> Bool { ["yes", "true", "on", "1"].contains(value) }
}
