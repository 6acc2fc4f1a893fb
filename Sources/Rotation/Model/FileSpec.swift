/// A file that secrets are written to: one or more outputs of the configuration that name the same path.
package struct FileSpec: Hashable, Sendable {
    package let path: AbsolutePath
    package let format: FileFormat
    package let mode: UInt16?
    package let group: String?
    package let owner: String?
    /// The client of each slot: the whole file, or one per variable of ours.
    package let slots: [Slot: ClientName]

    package init(
        path: AbsolutePath, format: FileFormat, mode: UInt16?, group: String?, owner: String?, slots: [Slot: ClientName]
    ) {
        self.path = path
        self.format = format
        self.mode = mode
        self.group = group
        self.owner = owner
        self.slots = slots
    }
}

/// How a file is written: the name of a format of the module Formats, and what the core has to know of it.
package struct FileFormat: Hashable, Sendable {
    package let name: String
    /// What the configuration says of the whole file, such as a template; nil where the format has no such setting.
    package let parameter: String?
    /// Whether several outputs may share the file, and lines that others have written.
    package let isShared: Bool

    package init(name: String, parameter: String? = nil, isShared: Bool = false) {
        self.name = name
        self.parameter = parameter
        self.isShared = isShared
    }
}

/// One output's place in a file.
package enum Slot: Hashable, Sendable {
    /// The file is about this secret alone.
    case whole
    case variable(String)
}

extension Configuration {
    /// The files of all outputs, each once even if several outputs share it.
    package var files: [AbsolutePath: FileSpec] {
        var outputs: [AbsolutePath: [(ClientName, Output)]] = [:]
        for (name, client) in clients {
            for output in client.outputs { outputs[output.path, default: []].append((name, output)) }
        }
        return outputs.compactMapValues { all in
            guard let (_, first) = all.first else { return nil }
            return FileSpec(
                path: first.path, format: first.format, mode: first.mode, group: first.group, owner: first.owner,
                slots: Dictionary(all.map { ($1.slot, $0) }) { one, _ in one })
        }
    }
}
