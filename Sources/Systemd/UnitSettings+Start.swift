import Glibc
import Linux

/// What a unit's next start needs. A unit that runs may be unable to start again: systemd looks for these files only then.
extension UnitSettings {
    /// A file or directory that systemd opens at the start, and without which there is none (systemd.exec(5)).
    package struct Need: Hashable, Sendable {
        /// As in a unit file, such as `LoadCredential`.
        package let setting: String
        package let path: String
        /// False where this process may not look.
        package let isMissing: Bool
    }

    /// Those of ``needs`` that are missing.
    package var missing: [Need] { needs.filter(\.isMissing) }

    static func needs(_ values: [String: Value]) -> [Need] {
        func items(_ name: String) -> [Item] { if case .items(let items)? = values[name] { items } else { [] } }
        func text(_ name: String) -> String { if case .text(let text)? = values[name] { text } else { "" } }
        var paths: [(setting: String, path: String)] = []
        // A credential whose text is set as well is that text where the file is missing. Without a path systemd itself has it.
        let isSet = Set((items("SetCredential") + items("SetCredentialEncrypted")).map(\.name))
        for setting in ["LoadCredential", "LoadCredentialEncrypted"] {
            paths += items(setting).filter { !isSet.contains($0.name) }.map { (setting, $0.path ?? "") }
        }
        // Which files a wildcard (glob(7)) is for is not known.
        let plain = items("EnvironmentFiles").filter { !$0.isOptional && !$0.name.contains { #"*?[\"#.contains($0) } }
        paths += plain.map { ("EnvironmentFile", $0.name) }
        for setting in ["BindPaths", "BindReadOnlyPaths"] {
            paths += items(setting).filter { !$0.isOptional }.map { (setting, $0.name) }
        }
        // In another root directory these are other paths.
        if text("RootDirectory").isEmpty, text("RootImage").isEmpty {
            paths.append(("WorkingDirectory", text("WorkingDirectory")))
            for setting in ["ExecStartPre", "ExecStart"] {
                paths += items(setting).filter { !$0.isOptional }.map { (setting, $0.name) }
            }
        }
        return paths.filter { $0.path.hasPrefix("/") }.compactMap { setting, path in
            guard FileStatus.following(path) == nil else { return nil }
            return Need(setting: setting, path: path, isMissing: FileStatus.isAbsent(path) && showsAsSystemd(path))
        }
    }

    /// Whether this process has the same there as systemd: a service may have its own (`PrivateTmp=`, `ProtectHome=`).
    private static func showsAsSystemd(_ path: String) -> Bool {
        geteuid() == 0 || !["/tmp/", "/var/tmp/", "/home/", "/root/", "/run/user/"].contains { path.hasPrefix($0) }
    }
}
