internal import Failures
import Linux
import Model

/// Refuses a `control_group` that can read a key or passphrase: its members may request a renewal and no more.
struct ControlGroupCheck {
    let loaded: LoadedConfiguration
    let identity: Identity

    var result: Result<LoadedConfiguration, ConfigurationError> {
        // A group that does not exist has no members and is no error here; the daemon reports it.
        guard let name = loaded.configuration.controlGroup, let group = try? Accounts.groupID(name) else {
            return .success(loaded)
        }
        let errors = KeySettings.files(of: loaded.configuration.keys).filter { isReadable($0.path, by: group) }.map {
            Diagnostic(
                .error, at: loaded.located.main.controlGroup.position ?? loaded.located.start,
                "group \"\(name)\" may read \($0.what), \($0.path); write another group, or remove that group's permission "
                    + "to read it")
        }
        return errors.isEmpty ? .success(loaded) : .failure(ConfigurationError(diagnostics: errors + loaded.warnings))
    }

    /// False for a file that is missing or not guarded, which is reported as the key's own failure. Uses the rules for
    /// configurations because they, unlike those for keys, let any user read.
    private func isReadable(_ path: AbsolutePath, by group: UInt32) -> Bool {
        guard let status = try? TrustedFile.check(path.description, for: .configuration, as: identity) else {
            return false
        }
        return status.mode & 0o004 != 0 || status.group == group && status.mode & 0o040 != 0
    }
}
