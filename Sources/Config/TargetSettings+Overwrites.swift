import Model
import Push

/// Finds targets that would overwrite each other.
extension TargetSettings {
    static func check(_ targets: [TargetSettings], _ diagnostics: Diagnostics) {
        checkDocuments(targets, diagnostics)
        var known: [PushPlace: [(name: Located<TargetName>, parts: Set<String>)]] = [:]
        for settings in targets {
            guard let target = settings.target, target.document == nil else { continue }
            let (place, parts) = (target.identity, target.parts)
            let others = known[place] ?? []
            if let other = others.first(where: { $0.parts == parts || !$0.parts.isDisjoint(with: parts) }) {
                let shared = parts == other.parts ? [] : parts.intersection(other.parts).sorted()
                diagnostics.error(
                    at: settings.name.position,
                    "target \"\(settings.name.value)\" is the same place as target \"\(other.name.value)\""
                        + (shared.isEmpty ? "" : " for \(shared.joined(separator: " and "))")
                        + " (\(other.name.position.seen(from: settings.name.position))); "
                        + "remove one of them, or write another place")
            }
            known[place] = others + [(settings.name, parts)]
        }
    }

    private static func checkDocuments(_ targets: [TargetSettings], _ diagnostics: Diagnostics) {
        var known: [String: [(name: Located<TargetName>, member: String?)]] = [:]
        for target in targets {
            guard let document = target.target?.document else { continue }
            let others = known[document.place] ?? []
            if let other = others.first(where: {
                $0.member == document.member || $0.member == nil || document.member == nil
            }) {
                diagnostics.error(
                    at: target.name.position,
                    "target \"\(target.name.value)\" overwrites what target \"\(other.name.value)\" writes "
                        + "(\(other.name.position.seen(from: target.name.position))); "
                        + "write a \"field\" of its own for each, or another \"\(document.setting)\"")
            }
            known[document.place] = others + [(target.name, document.member)]
        }
    }
}
