internal import Failures
import Linux
import Rotation

/// Sees to it that `control_group`, whose members may ask for a renewal and no more, cannot read a key or passphrase.
struct ControlGroupCheck {
    let loaded: Loaded
    let identity: Identity

    var result: Result<Loaded, Refusal> {
        // A group that does not exist is not the text's mistake: nobody is in it, and the daemon says so.
        guard let name = loaded.configuration.controlGroup, let group = try? Accounts.groupID(name) else {
            return .success(loaded)
        }
        var mistakes: [Diagnostic] = []
        for (key, entry) in loaded.configuration.keys.sorted(by: { $0.key < $1.key }) {
            for (location, what) in [(entry.location, "the private key"), (entry.passphrase, "the passphrase")] {
                guard case .file(let path) = location, isReadable(path, by: group) else { continue }
                mistakes.append(
                    Diagnostic(
                        .error, at: loaded.positions[.controlGroup] ?? loaded.positions.start,
                        "group \"\(name)\" may read \(what) of \"\(key)\", \(path); write another group, or "
                            + "chmod go-r \(ShellWord.quoted(path.description))"))
            }
        }
        return mistakes.isEmpty ? .success(loaded) : .failure(Refusal(diagnostics: mistakes + loaded.warnings))
    }

    /// A file that is not there or not guarded is a trouble of the key's own and told as that. The rules for
    /// configurations are used because they, unlike those for keys, let anybody read.
    private func isReadable(_ path: AbsolutePath, by group: UInt32) -> Bool {
        guard let status = try? TrustedFile.check(path.description, for: .configuration, as: identity) else {
            return false
        }
        return status.mode & 0o004 != 0 || status.group == group && status.mode & 0o040 != 0
    }
}
