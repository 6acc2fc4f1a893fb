/// A file that secrets are written to: one or more outputs of the configuration that name the same path.
package struct FileSpec: Hashable, Sendable {
    package let path: AbsolutePath
    package let format: FileFormat
    package let mode: UInt16?
    package let group: String?
    package let owner: String?
    /// The client of each slot: the whole file, or one per configured variable.
    package fileprivate(set) var slots: [FileSlot: ClientName]

    package init(
        path: AbsolutePath, format: FileFormat, mode: UInt16?, group: String?, owner: String?,
        slots: [FileSlot: ClientName]
    ) {
        self.path = path
        self.format = format
        self.mode = mode
        self.group = group
        self.owner = owner
        self.slots = slots
    }

    /// Whether the same secrets make the same file.
    package func isWritten(as other: FileSpec) -> Bool {
        format == other.format && mode == other.mode && group == other.group && owner == other.owner
    }
}

extension Configuration {
    /// The files of all outputs, each once even if several outputs share it.
    package var files: [AbsolutePath: FileSpec] {
        var files: [AbsolutePath: FileSpec] = [:]
        files.reserveCapacity(clients.count)
        for (name, client) in clients {
            for output in client.outputs {
                let unfilled = FileSpec(
                    path: output.path, format: output.format, mode: output.mode, group: output.group,
                    owner: output.owner, slots: [:])
                files[output.path, default: unfilled].slots[output.slot] = name
            }
        }
        return files
    }

    /// The paths of these files.
    package var outputPaths: Set<AbsolutePath> {
        var paths: Set<AbsolutePath> = []
        paths.reserveCapacity(clients.count)
        for client in clients.values { paths.formUnion(client.outputs.lazy.map(\.path)) }
        return paths
    }
}
