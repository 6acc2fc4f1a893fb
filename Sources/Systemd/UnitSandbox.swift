internal import Linux

/// What a unit's settings let its processes reach in the file system (systemd.exec(5), "Paths" and "Sandboxing").
///
/// systemd mounts something over each path that a setting names. The nearest mount at or above a path decides, of
/// several at one place the strictest; but nothing below an inaccessible path can be reached.
package struct UnitSandbox: Hashable, Sendable {
    /// The unit's properties of these names, without the prefixes `-` and `+` of paths.
    package struct Settings: Hashable, Sendable {
        package var protectSystem = "no"
        package var protectHome = "no"
        package var privateTmp = false
        package var readWritePaths: [String] = []
        package var readOnlyPaths: [String] = []
        package var inaccessiblePaths: [String] = []
        package var temporaryFileSystem: [String] = []
        /// The mount points, not what is mounted.
        package var bindPaths: [String] = []
        package var bindReadOnlyPaths: [String] = []
        package var noExecPaths: [String] = []
        package var execPaths: [String] = []
        /// StateDirectory=, CacheDirectory=, LogsDirectory= and RuntimeDirectory=, as absolute paths.
        package var directories: [String] = []

        package init() {}
    }

    /// How the unit's processes see a path.
    package enum View: Hashable, Sendable {
        /// Unchanged: the usual permissions apply.
        case writable
        /// Visible, but not writable; `by` is the setting, such as `ProtectSystem=strict`.
        case readOnly(by: String)
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
    private let directories: [String]

    package init(_ settings: Settings) {
        var mounts: [Mount] = []
        func add(_ paths: [String], _ kind: Kind, _ setting: String) {
            for path in paths { mounts.append(Mount(path: RealPath.of(path), kind: kind, setting: setting)) }
        }
        func add(_ paths: [String], _ kind: Kind, of name: String) {
            for path in paths { add([path], kind, "\(name)=\(path)") }
        }
        let system = "ProtectSystem=\(settings.protectSystem)"
        switch settings.protectSystem {
        case "strict":
            add(["/"], .readOnly, system)
            add(["/dev", "/proc", "/sys", "/home", "/root", "/run/user"], .otherwise, system)
        case "full": add(["/usr", "/boot", "/efi", "/etc"], .readOnly, system)
        case "yes": add(["/usr", "/boot", "/efi"], .readOnly, system)
        default: break
        }
        let homes = ["/home", "/root", "/run/user"]
        let home = "ProtectHome=\(settings.protectHome)"
        switch settings.protectHome {
        case "yes": add(homes, .inaccessible, home)
        case "tmpfs": add(homes, .temporary, home)
        case "read-only": add(homes, .readOnly, home)
        default: break
        }
        if settings.privateTmp { add(["/tmp", "/var/tmp"], .own, "PrivateTmp=yes") }
        add(settings.readWritePaths + settings.directories, .readWrite, of: "ReadWritePaths")
        add(settings.readOnlyPaths, .readOnly, of: "ReadOnlyPaths")
        add(settings.inaccessiblePaths, .inaccessible, of: "InaccessiblePaths")
        add(settings.temporaryFileSystem, .temporary, of: "TemporaryFileSystem")
        add(settings.bindPaths, .bind, of: "BindPaths")
        add(settings.bindReadOnlyPaths, .bindReadOnly, of: "BindReadOnlyPaths")
        self.mounts = mounts
        execution =
            settings.noExecPaths.map { Execution(path: RealPath.of($0), isAllowed: false) }
            + settings.execPaths.map { Execution(path: RealPath.of($0), isAllowed: true) }
        directories = settings.directories
    }

    /// How processes of the unit see `path` and all below it.
    package func view(of path: String) -> View {
        let real = RealPath.of(path)
        // Also the path as given: a link on it may be hidden.
        for name in Set([path, real]) {
            let above = mounts.filter { RealPath.isAt(name, orBelow: $0.path) }
            if let wall = above.first(where: { $0.kind == .inaccessible }) { return .hidden(by: wall.setting) }
            // What is made writable below a private mount is part of that mount.
            let other = Self.nearest(above.filter { [.bind, .bindReadOnly, .own, .temporary].contains($0.kind) })
            if let other, other.kind == .own || other.kind == .temporary { return .hidden(by: other.setting) }
        }
        let above = mounts.filter { RealPath.isAt(real, orBelow: $0.path) }
        guard let mount = Self.nearest(above) else { return .writable }
        return mount.kind == .readOnly || mount.kind == .bindReadOnly ? .readOnly(by: mount.setting) : .writable
    }

    /// The setting by which processes of the unit may not execute the file; nil when they may.
    package func settingAgainstExecuting(_ path: String) -> String? {
        let real = RealPath.of(path)
        let nearest = execution.filter { RealPath.isAt(real, orBelow: $0.path) }.max {
            ($0.path.utf8.count, $0.isAllowed ? 1 : 0) < ($1.path.utf8.count, $1.isAllowed ? 1 : 0)
        }
        return nearest.flatMap { $0.isAllowed ? nil : "NoExecPaths=\($0.path)" }
    }

    /// Whether systemd makes this directory, owned by the unit's user, each time the unit starts.
    package func makes(_ directory: String) -> Bool { directories.contains(directory) }

    private static func nearest(_ mounts: [Mount]) -> Mount? {
        mounts.min { ($1.path.utf8.count, $0.kind) < ($0.path.utf8.count, $1.kind) }
    }
}
