import Linux

/// The mounts of one mount namespace, by what is mounted.
struct NamespaceMounts: Hashable, Sendable {
    typealias Place = MountTable.Place

    private let table: MountTable
    private let byID: [String: MountTable.Mount]
    private let bySource: [Place: [MountTable.Mount]]

    init(_ table: MountTable) {
        self.init(table, bySource: Dictionary(grouping: table.mounts, by: \.name))
    }

    private init(_ table: MountTable, bySource: [Place: [MountTable.Mount]]) {
        self.table = table
        byID = Dictionary(table.mounts.map { ($0.id, $0) }) { _, last in last }
        self.bySource = bySource
    }

    /// Where the file at a path without links is; nil where the table does not have it.
    func place(of path: String) -> Place? { table.place(of: path) }

    /// Mounts of this file itself, also of one that a rename has replaced since. One that is mounted over the file itself, as
    /// systemd does for `ReadWritePaths=`, is not among them: the rename removes it.
    func ofFile(_ place: Place) -> [MountTable.Mount] {
        (bySource[place] ?? []).filter { mount in
            byID[mount.parent].map { MountTable.place(of: mount.point, in: $0) } != place
        }
    }

    /// Mounts of files in the directory of this file that the daemon has replaced, by an exchange of names.
    func ofReplacedFiles(beside place: Place) -> [MountTable.Mount] {
        guard let slash = place.path.lastIndex(of: "/") else { return [] }
        let beside = bySource[Place(device: place.device, path: String(place.path[...slash]))] ?? []
        // At the root of a file system, its own mount has this source as well.
        return beside.filter(\.isReplaced)
    }

    /// The table, in which mounts are not found that another one has at the same path: new namespaces begin with a copy.
    func without(_ other: NamespaceMounts) -> NamespaceMounts {
        NamespaceMounts(
            table,
            bySource: bySource.compactMapValues { mounts in
                let left = mounts.filter { mount in
                    other.bySource[mount.name]?.contains { $0.point == mount.point } != true
                }
                return left.isEmpty ? nil : left
            })
    }
}

extension MountTable.Mount {
    /// The kernel appends this to the path of a file that is no longer there.
    private static let deleted = "//deleted"

    /// Whether the daemon has replaced the file since it was mounted.
    var isReplaced: Bool { root.hasSuffix(Self.deleted) }

    /// The file by its name before it was replaced. Where the daemon's exchange has given the old file a temporary
    /// name, only its directory is known: a path with a slash at the end.
    fileprivate var name: NamespaceMounts.Place {
        let path = isReplaced ? String(root.dropLast(Self.deleted.count)) : root
        guard isReplaced, let slash = path.lastIndex(of: "/") else {
            return NamespaceMounts.Place(device: device, path: root)
        }
        let isTemporary = TemporaryNames.tag(of: String(path[path.index(after: slash)...])) != nil
        return NamespaceMounts.Place(device: device, path: isTemporary ? String(path[...slash]) : path)
    }
}

/// A mount namespace.
struct NamespaceFacts: Sendable {
    /// A process in it by its number, or `self`.
    let process: String
    /// The name of that process; nil for our own.
    let command: String?
    let mounts: NamespaceMounts
}
