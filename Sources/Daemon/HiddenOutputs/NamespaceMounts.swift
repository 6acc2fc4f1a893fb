import Linux

/// The mounts of one mount namespace, from /proc/PID/mountinfo (proc_pid_mountinfo(5)).
struct NamespaceMounts: Hashable, Sendable {
    /// A file by the file system that it is on, which all namespaces call alike.
    struct Place: Hashable, Sendable {
        /// Major and minor number, as in the table.
        let device: String
        /// From the root of the file system.
        let path: String
    }

    struct Mount: Hashable, Sendable {
        /// From 1.
        let line: Int
        /// Where it is mounted.
        let path: String
        fileprivate let id: Substring
        fileprivate let parent: Substring
        /// What is mounted.
        fileprivate let source: Place

        /// Whether the daemon has replaced the file since it was mounted.
        var isReplaced: Bool { source.path.hasSuffix(NamespaceMounts.deleted) }

        /// The file by its name before it was replaced. Where the daemon's exchange has given the old file a temporary
        /// name, only its directory is known: a path with a slash at the end.
        fileprivate var name: Place {
            guard isReplaced else { return source }
            let path = source.path.dropLast(NamespaceMounts.deleted.count)
            guard let slash = path.lastIndex(of: "/") else { return source }
            let isTemporary = TemporaryNames.tag(of: String(path[path.index(after: slash)...])) != nil
            return Place(device: source.device, path: String(isTemporary ? path[...slash] : path))
        }
    }

    private let mounts: [Mount]
    private let byID: [Substring: Mount]
    private let bySource: [Place: [Mount]]

    init(_ text: String) {
        let mounts = text.split(separator: "\n").enumerated().compactMap { index, line -> Mount? in
            let fields = line.split(separator: " ", maxSplits: 5)
            guard fields.count == 6 else { return nil }
            return Mount(
                line: index + 1, path: MountTable.unescaped(fields[4]), id: fields[0], parent: fields[1],
                source: Place(device: String(fields[2]), path: MountTable.unescaped(fields[3])))
        }
        self.init(mounts: mounts, bySource: Dictionary(grouping: mounts, by: \.name))
    }

    private init(mounts: [Mount], bySource: [Place: [Mount]]) {
        self.mounts = mounts
        byID = Dictionary(mounts.map { ($0.id, $0) }) { _, last in last }
        self.bySource = bySource
    }

    /// Where the file at a path without links is; nil where the table does not have it.
    func place(of path: String) -> Place? {
        let above = mounts.filter { RealPath.isAt(path, orBelow: $0.path) }
        // Of several mounts at one point the last is on top.
        var nearest: Mount?
        for mount in above where mount.path.utf8.count >= nearest?.path.utf8.count ?? 0 { nearest = mount }
        return nearest.map { Self.place(of: path, in: $0) }
    }

    /// Mounts of this file itself, also of one that a rename has replaced since. One that is mounted over the file itself, as
    /// systemd does for `ReadWritePaths=`, is not among them: the rename removes it.
    func ofFile(_ place: Place) -> [Mount] {
        (bySource[place] ?? []).filter { mount in
            byID[mount.parent].map { Self.place(of: mount.path, in: $0) } != place
        }
    }

    /// Mounts of files in the directory of this file that the daemon has replaced, by an exchange of names.
    func ofReplacedFiles(beside place: Place) -> [Mount] {
        guard let slash = place.path.lastIndex(of: "/") else { return [] }
        let beside = bySource[Place(device: place.device, path: String(place.path[...slash]))] ?? []
        // At the root of a file system, its own mount has this source as well.
        return beside.filter(\.isReplaced)
    }

    /// The table, in which mounts are not found that another one has at the same path: new namespaces begin with a copy.
    func without(_ other: NamespaceMounts) -> NamespaceMounts {
        NamespaceMounts(
            mounts: mounts,
            bySource: bySource.compactMapValues { mounts in
                let left = mounts.filter { mount in
                    other.bySource[mount.name]?.contains { $0.path == mount.path } != true
                }
                return left.isEmpty ? nil : left
            })
    }

    /// The kernel appends this to the path of a file that is no longer there.
    private static let deleted = "//deleted"

    private static func place(of path: String, in mount: Mount) -> Place {
        let rest = mount.path == "/" ? path : String(path.dropFirst(mount.path.count))
        return Place(device: mount.source.device, path: mount.source.path == "/" ? rest : mount.source.path + rest)
    }
}
