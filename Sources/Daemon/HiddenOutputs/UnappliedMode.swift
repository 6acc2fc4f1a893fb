import Config
import Failures
import Formats
import Linux
import Model

extension HiddenOutput {
    /// The configured mode or group by which users may not read the file. The daemon gives other content of a file no further
    /// readers, so a mode that was once narrowed also stays. Only the administrator knows who may read all of it.
    ///
    /// - Parameter bytes: the content of the file.
    static func unappliedMode(of file: FileSpec, _ status: FileStatus, in bytes: [UInt8]) -> HiddenOutput? {
        let variables = Set(file.slots.keys.compactMap(\.variable))
        // The secrets of several clients are other lines for each other.
        guard !variables.isEmpty, status.kind == .regular,
            variables.count > 1 || FormatRegistry.holdsOtherLines(than: variables, in: bytes)
        else { return nil }
        let found = status.mode & 0o777
        // A group is named to read the file.
        let forGroup: UInt16? = file.group == nil ? nil : found | 0o040
        guard let wanted = file.mode ?? forGroup else { return nil }
        var group: UInt32?
        if let name = file.group {
            // Unknown, it is reported as a failure.
            guard let id = try? Accounts.groupID(name) else { return nil }
            group = id
        }
        let mode = status.mode(keepingContentAs: wanted, group: group)
        guard mode != wanted else { return nil }
        let groupWords = file.group.map { Owner.words(groupNamed: $0) }
        let hasGroup = group == nil || group == status.group
        let setting =
            file.mode == nil
            ? "\(groupWords ?? "its group") cannot read the file" : "mode \(FileMode.text(wanted)) is not applied"
        let asked = (hasGroup ? "" : "\(groupWords ?? "") and ") + "mode \(FileMode.text(wanted))"
        return HiddenOutput(
            file: file.path.description, line: nil,
            words: "\(setting), because the file has other lines, which get no further readers: it "
                + "\(hasGroup && mode == found ? "has" : "will have") mode \(FileMode.text(mode))",
            remedy: .say(
                "if further users may read all of its lines, give the file \(asked)",
                // With another group other users would read it, and a mode for all users is for none but a person to set.
                see: hasGroup && wanted & 0o007 == 0 ? command(giving: wanted, to: file) : nil),
            isKnown: false)
    }

    private static func command(giving mode: UInt16, to file: FileSpec) -> ShellCommand? {
        let writer: Identity
        if let owner = file.owner {
            guard let account = try? Accounts.user(called: owner) else { return nil }
            writer = Identity(user: account.id, group: account.primaryGroup)
        } else {
            writer = Identity.ofService(askedBy: .current())
        }
        return PathComponent(file: file.path.description, for: writer).flatMap {
            .setMode(FileMode.text(mode), of: $0)
        }
    }
}
