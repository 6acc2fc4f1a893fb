/// One place where a client's secret is written.
package struct Output: Hashable, Sendable {
    package var path: AbsolutePath
    package var format: FileFormat
    /// The place of the secret in the file.
    package var slot: FileSlot
    /// The permission bits, `07777` at most; nil: those of the file that is replaced, else 0600.
    package var mode: UInt16?
    /// The group's name or number; nil: that of the file that is replaced, else the directory's default.
    package var group: String?
    /// The user that owns and writes the file; nil: the daemon's own.
    package var owner: String?

    package init(
        path: AbsolutePath, format: FileFormat, slot: FileSlot = .whole, mode: UInt16? = nil, group: String? = nil,
        owner: String? = nil
    ) {
        self.path = path
        self.format = format
        self.slot = slot
        self.mode = mode
        self.group = group
        self.owner = owner
    }
}

/// The place where a client's secret is published: a file, or one variable of an environment file.
package struct OutputPlace: Hashable, Comparable, Sendable {
    package let path: AbsolutePath
    package let slot: FileSlot

    package init(path: AbsolutePath, slot: FileSlot) {
        self.path = path
        self.slot = slot
    }

    package static func < (left: OutputPlace, right: OutputPlace) -> Bool {
        (left.path, left.variable ?? "") < (right.path, right.variable ?? "")
    }

    /// The variable of an environment file; nil if the whole file is the secret.
    package var variable: String? { slot.variable }
}

/// One output's place in a file.
package enum FileSlot: Hashable, Sendable {
    /// The file is only about this secret.
    case whole
    case variable(String)

    /// Nil: the whole file.
    package init(variable: String?) {
        self = variable.map { .variable($0) } ?? .whole
    }

    /// The variable of an environment file; nil if the whole file is the secret.
    package var variable: String? {
        if case .variable(let name) = self { name } else { nil }
    }
}

/// How a file is written: the name of a format of the module Formats, and the facts that the core needs.
package struct FileFormat: Hashable, Sendable {
    package let name: String
    /// The configuration's setting for the whole file, such as a template; nil if the format has no such setting.
    package let parameter: String?
    /// Whether several outputs may share the file, and lines that others have written.
    package let isShared: Bool

    package init(name: String, parameter: String? = nil, isShared: Bool = false) {
        self.name = name
        self.parameter = parameter
        self.isShared = isShared
    }
}

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
