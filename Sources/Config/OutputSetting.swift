import Model

/// One item of `outputs`: a file, or a place behind an API.
enum OutputSetting {
    case file(FileOutputSettings)
    /// `push:` and a target's name.
    case push(Located<TargetName>)

    /// Nil, with an error, when the node has no settings, or its target no possible name.
    init?(_ node: YAMLNode, _ diagnostics: Diagnostics) {
        guard case .mapping(let lines) = node.content, lines.contains(where: { $0.key.value == "push" }) else {
            guard let file = FileOutputSettings(node, diagnostics) else { return nil }
            self = .file(file)
            return
        }
        guard
            let section = Section(
                node, of: "an output", at: node.position, names: ["push"] + FileOutputSettings.names, diagnostics)
        else { return nil }
        for name in FileOutputSettings.names where section.has(name) {
            diagnostics.error(
                at: section.position(of: name),
                name == "path"
                    ? "an output is a file or a target; write \"push\" and \"path\" as two outputs"
                    : "a target is not a file and has no \"\(name)\"; remove the line")
        }
        guard let target = section.value("push", Scalar.targetName).located else { return nil }
        self = .push(target)
    }

    /// Finds outputs whose target is not configured, and targets that are to hold two secrets.
    ///
    /// - Parameter mentioned: the names of all targets, also of those that are wrong.
    static func check(_ clients: [WrittenClient], mentioned: [String], _ diagnostics: Diagnostics) {
        let outputs = clients.flatMap { client in
            client.settings.targets.map { (client: client.name.value, target: $0) }
        }
        let different = diagnostics.withoutRepetitions(outputs, by: \.target) { output, first, place in
            "target \"\(output.target.value)\" is already an output of client \"\(first.client)\" (\(place)) and holds only "
                + "one secret; write another target"
        }
        for (_, target) in different {
            let name = target.value.description
            guard !mentioned.contains(name) else { continue }
            let advice =
                mentioned.isEmpty
                ? "write it under \"targets\" in the main file"
                : advice(for: name, among: mentioned, otherwise: mentioned.prefix(10))
            diagnostics.error(at: target.position, "there is no target\(apposition(name)); \(advice)")
        }
    }
}
