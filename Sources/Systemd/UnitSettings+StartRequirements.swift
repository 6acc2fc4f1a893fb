import Glibc
import Linux

/// The requirements of a unit's next start. A unit that runs may be unable to start again: systemd looks for these files only
/// then.
extension UnitSettings {
    /// A file or directory that systemd opens at the start, and without which there is none (systemd.exec(5)).
    package struct Need: Hashable, Sendable {
        /// As in a unit file, such as `LoadCredential`.
        package let setting: String
        package let path: String
        /// False if this process may not look.
        package let isMissing: Bool
        /// Whether it is a link in the place of a directory that systemd creates.
        package var isLink = false
    }

    /// Those of ``needs`` that are missing.
    package var missing: [Need] { needs.filter(\.isMissing) }

    /// Links in the place of a directory that systemd creates: it follows none there, and the start fails. With `DynamicUser=` it
    /// makes such a link, and may have left one.
    private static func links(_ values: [String: Value]) -> [Need] {
        guard values["DynamicUser"] != .flag(true) else { return [] }
        return writableDirectories.flatMap { setting, place in
            values[setting].words.compactMap { name in
                guard let target = ForeignFile.link(place + name), !target.hasSuffix("private/" + name) else {
                    return nil
                }
                return Need(setting: setting, path: place + name, isMissing: true, isLink: true)
            }
        }
    }

    /// Settings of paths that may be prefixed with `-`, which marks one that may be missing, and with `+`.
    package static let pathLists = ["ReadWritePaths", "ReadOnlyPaths", "InaccessiblePaths", "ExecPaths", "NoExecPaths"]
    /// Settings of directories that systemd creates at the start and lets the unit write to, and the parent of each.
    static let writableDirectories = [
        (setting: "StateDirectory", place: "/var/lib/"), ("CacheDirectory", "/var/cache/"),
        ("LogsDirectory", "/var/log/"), ("RuntimeDirectory", "/run/"),
    ]

    static func needs(_ values: [String: Value]) -> [Need] {
        var paths: [(setting: String, path: String)] = []
        // A credential whose text is set as well is that text if the file is missing. Without a path systemd itself has it.
        let isSet = Set(values["SetCredential"].words + values["SetCredentialEncrypted"].words)
        for setting in ["LoadCredential", "LoadCredentialEncrypted"] {
            paths += values[setting].items.filter { !isSet.contains($0.name) }.map { (setting, $0.path ?? "") }
        }
        // Which files a wildcard (glob(7)) is for is not known.
        let plain = values["EnvironmentFiles"].items.filter {
            !$0.isOptional && !$0.name.contains { #"*?[\"#.contains($0) }
        }
        paths += plain.map { ("EnvironmentFile", $0.name) }
        for setting in ["BindPaths", "BindReadOnlyPaths"] {
            paths += values[setting].items.filter { !$0.isOptional }.map { (setting, $0.name) }
        }
        let made = (writableDirectories + [("ConfigurationDirectory", "/etc/")]).flatMap { setting, place in
            values[setting].words.map { place + $0 }
        }
        // With another root directory, with the files of images or behind the unit's own mount these are other paths.
        if values["RootDirectory"].text.isEmpty, values["RootImage"].text.isEmpty,
            values["ExtensionImages"].items.isEmpty,
            values["ExtensionDirectories"].words.isEmpty
        {
            var inside = [("WorkingDirectory", values["WorkingDirectory"].text)]
            for setting in pathLists {
                for path in values[setting].words {
                    let prefix = path.prefix { "-+".contains($0) }
                    if !prefix.contains("-") { inside.append((setting, String(path.dropFirst(prefix.count)))) }
                }
            }
            // Another command of the unit may put a program into a directory that is created for it.
            for setting in ["ExecStartPre", "ExecStart"] {
                inside += values[setting].items.filter { item in
                    !item.isOptional && !made.contains { RealPath.isAt(item.name, orBelow: $0) }
                }.map { (setting, $0.name) }
            }
            let mounts = ["BindPaths", "BindReadOnlyPaths", "MountImages"].flatMap {
                values[$0].items.compactMap(\.path)
            }
            paths += inside.filter { need in !mounts.contains { RealPath.isAt(need.1, orBelow: $0) } }
        }
        return links(values)
            + paths.compactMap { setting, path in
                guard path.hasPrefix("/"), FileStatus.following(path) == nil,
                    !made.contains(where: { RealPath.isAt($0, orBelow: path) })
                else { return nil }
                return Need(setting: setting, path: path, isMissing: FileStatus.isAbsent(path) && showsAsSystemd(path))
            }
    }

    /// Whether this process has the same there as systemd: a service may have its own (`PrivateTmp=`, `ProtectHome=`).
    private static func showsAsSystemd(_ path: String) -> Bool {
        geteuid() == 0 || !["/tmp/", "/var/tmp/", "/home/", "/root/", "/run/user/"].contains { path.hasPrefix($0) }
    }
}
