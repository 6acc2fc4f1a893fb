/// A file that secrets are written to: one or more outputs of the configuration that name the same path.
package struct FileSpec: Hashable, Sendable {
    package let path: AbsolutePath
    package let kind: Kind
    package let mode: UInt16?
    package let group: String?
    package let owner: String?
    /// The client of each slot: one slot for a raw or JSON file, one per variable of ours in an environment file.
    package let slots: [Slot: ClientName]

    package enum Kind: Hashable, Sendable {
        case raw
        case json
        case env
    }

    package init(
        path: AbsolutePath, kind: Kind, mode: UInt16?, group: String?, owner: String?, slots: [Slot: ClientName]
    ) {
        self.path = path
        self.kind = kind
        self.mode = mode
        self.group = group
        self.owner = owner
        self.slots = slots
    }
}

/// One output's place in a file.
package enum Slot: Hashable, Sendable {
    /// The file is the secret, raw or as JSON.
    case whole
    case variable(String)

    init(_ format: Output.Format) {
        switch format {
        case .raw, .json: self = .whole
        case .env(let variable): self = .variable(variable)
        }
    }
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
            let kind: FileSpec.Kind =
                switch first.format {
                case .raw: .raw
                case .json: .json
                case .env: .env
                }
            return FileSpec(
                path: first.path, kind: kind, mode: first.mode, group: first.group, owner: first.owner,
                slots: Dictionary(all.map { (Slot($1.format), $0) }) { one, _ in one })
        }
    }
}
