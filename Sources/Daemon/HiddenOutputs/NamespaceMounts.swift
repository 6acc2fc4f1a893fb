import Linux

/// The mounts of one mount namespace, by the mounted file or directory.
struct NamespaceMounts: Hashable, Sendable {
    typealias Place = MountTable.Place

    let table: MountTable
    private let byID: [String: MountTable.Mount]
    private let bySource: [Place: [MountTable.Mount]]

    init(_ table: MountTable) {
        self.table = table
        byID = Dictionary(table.mounts.map { ($0.id, $0) }) { _, last in last }
        bySource = Dictionary(grouping: table.mounts, by: \.name)
    }

    /// The place of the file at a path without links; nil if the table does not have it.
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
        // At the root of a file system, its own mount has this source as well.
        (bySource[Self.directory(of: place)] ?? []).filter(\.isReplaced)
    }

    /// With a slash at the end, as the name of a replaced file's mount has it.
    static func directory(of place: Place) -> Place {
        Place(
            device: place.device, path: String(place.path[...(place.path.lastIndex(of: "/") ?? place.path.startIndex)]))
    }

    /// Whether a mount of another namespace may be of one of these files, and is none of the mounts here. New namespaces begin
    /// with a copy.
    func lacks(_ mount: MountTable.Mount, of files: Set<Place>, in directories: Set<Place>) -> Bool {
        let name = mount.name
        guard files.contains(name) || mount.isReplaced && directories.contains(name) else { return false }
        return bySource[name]?.contains { $0.point == mount.point } != true
    }
}

extension MountTable.Mount {
    /// The kernel appends this to the path of a file that is no longer there.
    private static let deleted = "//deleted"

    /// Whether the daemon has replaced the file since it was mounted.
    var isReplaced: Bool { root.hasSuffix(Self.deleted) }

    /// The file by its name before it was replaced. If the daemon's exchange has given the old file a temporary name, only its
    /// directory is known: a path with a slash at the end.
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

extension NamespaceFacts {
    /// How many mounts of outputs are kept.
    private static let mountLimit = 256

    /// The other namespaces in which these files are mounted on their own. Any user can make many, with long tables: of each no more
    /// is kept than that.
    ///
    /// - Parameters:
    ///   - processes: those to begin with.
    ///   - look: its end is the end of the search.
    static func others(
        than own: NamespaceMounts, _ ownName: String, showing files: Set<NamespaceMounts.Place>,
        first processes: Set<Int32>, _ look: ProcessLook
    ) -> [NamespaceFacts] {
        let directories = Set(files.map(NamespaceMounts.directory))
        var room = mountLimit
        var seen: Set<String> = [ownName]
        var found: [NamespaceFacts] = []
        for id in look.processes(first: processes) {
            guard look.goesOn else { break }
            guard let name = look.link("/proc/\(id)/ns/mnt"), seen.insert(name).inserted,
                let table = MountTable.of(
                    process: id, limit: room, look, where: { own.lacks($0, of: files, in: directories) }),
                !table.mounts.isEmpty
            else { continue }
            room = max(0, room - table.mounts.count)
            found.append(
                NamespaceFacts(
                    process: String(id),
                    command: ForeignFile.command(of: id).map { String(decoding: $0, as: UTF8.self) } ?? "?",
                    mounts: NamespaceMounts(table)))
        }
        return found
    }
}
