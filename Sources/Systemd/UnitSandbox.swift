internal import Linux

/// The parts of the file system that a unit's settings let its processes reach (systemd.exec(5), "Paths" and "Sandboxing").
///
/// systemd mounts something over each path that a setting names. The nearest mount at or above a path decides, of
/// several at one place the strictest; but nothing below an inaccessible path can be reached.
package struct UnitSandbox: Hashable, Sendable {
    /// How the unit's processes see a path.
    package enum View: Hashable, Sendable {
        /// Unchanged: the usual permissions apply.
        case writable
        /// Visible, but not writable; `by` is the setting, such as `ProtectSystem=strict`. `ReadWritePaths=` opens the path, but
        /// not one that the setting itself names: there the strictest setting counts.
        case readOnly(by: String, canBeOpened: Bool)
        /// Inaccessible, or covered by something that is not visible outside.
        case hidden(by: String)
    }

    private struct Mount: Hashable {
        let path: String
        let kind: Kind
        let setting: String
    }

    private struct Execution: Hashable {
        let path: String
        let isAllowed: Bool
    }

    /// The strictest first: of several mounts at one path systemd keeps that one.
    private enum Kind: Int, Comparable {
        case inaccessible
        case bind
        case bindReadOnly
        case own
        case readOnly
        case readWrite
        case temporary
        /// A path that one setting leaves to the others.
        case otherwise

        static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    private let mounts: [Mount]
    /// The places of NoExecPaths= and ExecPaths=, and whether programs there may be executed.
    private let execution: [Execution]
    /// StateDirectory=, CacheDirectory=, LogsDirectory= and RuntimeDirectory=, as absolute paths.
    private let directories: [String]
    /// The mount points at which BindPaths= shows another directory.
    private let replaced: [String]

    /// Nil when that is not known: in another root directory these are other paths.
    ///
    /// - Parameter followsLinks: whether links in the settings' paths are followed, which blocks on their file systems.
    package init?(_ values: [String: UnitSettings.Value], followsLinks: Bool = true) {
        guard values["RootDirectory"].text.isEmpty, values["RootImage"].text.isEmpty else { return nil }
        var mounts: [Mount] = []
        func place(_ path: String) -> String { followsLinks ? RealPath.of(path) : path }
        func add(_ paths: [String], _ kind: Kind, _ setting: String) {
            for path in paths { mounts.append(Mount(path: place(path), kind: kind, setting: setting)) }
        }
        func add(_ paths: [String], _ kind: Kind, of name: String) {
            for path in paths { add([path], kind, "\(name)=\(path)") }
        }
        /// The paths of a setting, without their prefixes.
        func paths(_ name: String) -> [String] {
            values[name].words.map { String($0.drop { "-+".contains($0) }) }
        }
        let protectSystem = values["ProtectSystem"].text
        let system = "ProtectSystem=\(protectSystem)"
        switch protectSystem {
        case "strict":
            add(["/"], .readOnly, system)
            add(["/dev", "/proc", "/sys", "/home", "/root", "/run/user"], .otherwise, system)
        case "full": add(["/usr", "/boot", "/efi", "/etc"], .readOnly, system)
        case "yes": add(["/usr", "/boot", "/efi"], .readOnly, system)
        default: break
        }
        let homes = ["/home", "/root", "/run/user"]
        let protectHome = values["ProtectHome"].text
        let home = "ProtectHome=\(protectHome)"
        switch protectHome {
        case "yes": add(homes, .inaccessible, home)
        case "tmpfs": add(homes, .temporary, home)
        case "read-only": add(homes, .readOnly, home)
        default: break
        }
        if values["PrivateTmp"] == .flag(true) { add(["/tmp", "/var/tmp"], .own, "PrivateTmp=yes") }
        directories = UnitSettings.writableDirectories.flatMap { setting, place in
            values[setting].words.map { place + $0 }
        }
        add(paths("ReadWritePaths") + directories, .readWrite, of: "ReadWritePaths")
        add(paths("ReadOnlyPaths"), .readOnly, of: "ReadOnlyPaths")
        add(paths("InaccessiblePaths"), .inaccessible, of: "InaccessiblePaths")
        add(values["TemporaryFileSystem"].words, .temporary, of: "TemporaryFileSystem")
        // The mount points, not the mounted directories.
        add(values["BindPaths"].items.compactMap(\.path), .bind, of: "BindPaths")
        replaced = values["BindPaths"].items.filter { $0.path != $0.name }.compactMap(\.path).map(place)
        add(values["BindReadOnlyPaths"].items.compactMap(\.path), .bindReadOnly, of: "BindReadOnlyPaths")
        execution =
            paths("NoExecPaths").map { Execution(path: place($0), isAllowed: false) }
            + paths("ExecPaths").map { Execution(path: place($0), isAllowed: true) }
        self.mounts = mounts
    }

    /// How processes of the unit see `path` and all below it.
    package func view(of path: String) -> View {
        let real = RealPath.of(path)
        // Also the path as given: a link on it may be hidden.
        for name in Set([path, real]) {
            let above = mounts.filter { RealPath.isAt(name, orBelow: $0.path) }
            if let wall = above.first(where: { $0.kind == .inaccessible }) { return .hidden(by: wall.setting) }
            // A writable path below a private mount is part of that mount.
            let other = Self.nearest(above.filter { [.bind, .bindReadOnly, .own, .temporary].contains($0.kind) })
            if let other, other.kind == .own || other.kind == .temporary { return .hidden(by: other.setting) }
        }
        let above = mounts.filter { RealPath.isAt(real, orBelow: $0.path) }
        guard let mount = Self.nearest(above) else { return .writable }
        switch mount.kind {
        case .readOnly, .bindReadOnly: return .readOnly(by: mount.setting, canBeOpened: real != mount.path)
        default: return .writable
        }
    }

    /// Whether the unit's settings show another directory at or above a real path.
    package func replaces(_ real: String) -> Bool { replaced.contains { RealPath.isAt(real, orBelow: $0) } }

    /// The setting by which processes of the unit may not execute the file; nil when they may.
    package func settingAgainstExecuting(_ path: String) -> String? {
        let real = RealPath.of(path)
        let nearest = execution.filter { RealPath.isAt(real, orBelow: $0.path) }.max {
            ($0.path.utf8.count, $0.isAllowed ? 1 : 0) < ($1.path.utf8.count, $1.isAllowed ? 1 : 0)
        }
        return nearest.flatMap { $0.isAllowed ? nil : "NoExecPaths=\($0.path)" }
    }

    /// Whether systemd creates this directory, owned by the unit's user, each time the unit starts.
    package func makes(_ directory: String) -> Bool { directories.contains(directory) }

    private static func nearest(_ mounts: [Mount]) -> Mount? {
        mounts.min { ($1.path.utf8.count, $0.kind) < ($0.path.utf8.count, $1.kind) }
    }
}
