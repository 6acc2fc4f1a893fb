internal import Linux

/// A condition or assertion of a unit (systemd.unit(5)), without which systemd does not start it.
package struct UnitCondition: Hashable, Sendable {
    /// As in a unit file, such as `ConditionPathExists`.
    let setting: String
    let parameter: String
    /// Whether it is met if the parameter is not.
    let isNegated: Bool
    /// Whether it is met with any other such one.
    let isTrigger: Bool

    /// As in a unit file.
    package var line: String { "\(setting)=\(isTrigger ? "|" : "")\(isNegated ? "!" : "")\(parameter)" }

    /// Whether it is met now; nil if only systemd can tell.
    private var isMet: Bool? {
        let status = FileStatus.following(parameter)
        guard UnitSettings.showsAsSystemd(parameter), status != nil || FileStatus.isAbsent(parameter) else {
            return nil
        }
        let isSo: Bool
        switch setting.trimmingPrefix("Condition").trimmingPrefix("Assert") {
        case "PathExists": isSo = status != nil
        case "PathIsDirectory": isSo = status?.kind == .directory
        case "FileNotEmpty": isSo = status.map { $0.kind == .regular && $0.size > 0 } ?? false
        case "FileIsExecutable": isSo = status.map { $0.kind == .regular && $0.mode & 0o111 != 0 } ?? false
        default: return nil
        }
        return isSo != isNegated
    }

    /// The first of a unit's conditions that keeps it from its start now; nil if none is known to. Blocks.
    static func unmet(among all: [UnitCondition]) -> UnitCondition? {
        if let unmet = all.first(where: { !$0.isTrigger && $0.isMet == false }) { return unmet }
        let triggers = all.filter(\.isTrigger)
        return triggers.allSatisfy { $0.isMet == false } ? triggers.first : nil
    }
}
