import Rotation

/// Reads one whole configuration file.
struct DocumentReader {
    static let names = [
        "keys", "defaults", "clients", "on_state_change", "control_group", "state_dir", "metrics_file",
        "trusted_directories",
    ]

    let complaints: Diagnostics
    /// The main file's name, when this is an additional file with keys and clients only.
    let main: String?

    func read(_ node: YAMLNode) -> FileDraft {
        var draft = FileDraft()
        let start = Position(file: node.position.file, line: 1, column: 1)
        guard
            let section = Section(
                node, of: "the configuration", at: start, names: Self.names, complaints: complaints)
        else {
            draft.mentionsKeys = true
            draft.mentionsClients = true
            return draft
        }
        draft.mentionsKeys = section.mentions("keys")
        draft.mentionsClients = section.mentions("clients")
        if let (node, position) = section.node("keys") {
            draft.mentionsKeys = !node.isEmptyMapping
            draft.keys = (Section.lines(of: node, named: "\"keys\"", at: position, complaints: complaints) ?? [])
                .compactMap(KeyReader(complaints: complaints).read)
        }
        let clients = ClientReader(complaints: complaints)
        if let (node, position) = section.node("clients") {
            draft.mentionsClients = !node.isEmptyMapping
            draft.clients = (Section.lines(of: node, named: "\"clients\"", at: position, complaints: complaints) ?? [])
                .compactMap(clients.client)
        }
        if let main {
            for name in Self.names where name != "keys" && name != "clients" && section.has(name) {
                complaints.error(
                    at: section.position(of: name),
                    "\"\(name)\" belongs in \(harmless(main)); this file may add keys and clients only")
            }
            return draft
        }
        if let (node, position) = section.node("defaults") { draft.defaults = clients.defaults(node, at: position) }
        draft.onStateChange = section.list(
            "on_state_change", ActionReader(complaints: complaints, placeholder: true).read)
        draft.controlGroup = section.value("control_group") { text throws(Mistake) in
            try Plain.account(text, kind: "group")
        }
        draft.stateDirectory = section.value("state_dir") { text throws(Mistake) in
            try Plain.path(text, isFile: false)
        }
        draft.metricsFile = section.value("metrics_file") { text throws(Mistake) in try Plain.path(text) }
        draft.trustedDirectories = section.list("trusted_directories") { node in
            Section.value(node, named: "a trusted directory", at: node.position, complaints: complaints) {
                text throws(Mistake) in try Plain.path(text, isFile: false)
            }.placed
        }
        return draft
    }
}
