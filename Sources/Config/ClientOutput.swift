import AppleClientSecret
import Formats
import Model

/// An output whose path is known, and its client.
struct ClientOutput {
    let client: ClientName
    let output: FileOutputSettings
    let path: Located<AbsolutePath>

    /// The outputs of these clients, in their order.
    static func all(of clients: [WrittenClient]) -> [ClientOutput] {
        clients.flatMap { client in
            client.settings.files.compactMap { output in
                guard let path = output.path.located else { return nil }
                return ClientOutput(client: client.name.value, output: output, path: path)
            }
        }
    }

    /// Finds outputs that contradict each other, or let others read the secret.
    static func check(_ outputs: [ClientOutput], _ diagnostics: Diagnostics) {
        var first: [AbsolutePath: ClientOutput] = [:]
        var variables: [AbsolutePath: [String: ClientOutput]] = [:]
        for output in outputs {
            output.warnOfOthers(diagnostics)
            let path = output.path.value
            if let other = first[path] {
                output.compare(with: other, diagnostics)
            } else {
                first[path] = output
            }
            guard let variable = output.output.slot.variable, output.output.format.value != nil else { continue }
            if let other = variables[path, default: [:]][variable] {
                diagnostics.error(
                    at: output.path.position,
                    "client \"\(other.client)\" already sets variable \(quoted(variable)) of \(path) "
                        + "(\(other.path.position.seen(from: output.path.position))); write another variable or another path"
                )
            } else {
                variables[path, default: [:]][variable] = output
            }
        }
    }

    private func warnOfOthers(_ diagnostics: Diagnostics) {
        guard let mode = output.mode.located, mode.value & 0o006 != 0 else { return }
        let may: String =
            switch mode.value & 0o006 {
            case 0o004: "read"
            case 0o002: "overwrite"
            default: "read and overwrite"
            }
        diagnostics.warning(
            at: mode.position,
            "mode \(FileMode.text(mode.value)) lets every user \(may) the secret; "
                + "write \(FileMode.text(mode.value & 0o770)) and a group")
    }

    /// - Parameter other: the first output with the same path.
    private func compare(with other: ClientOutput, _ diagnostics: Diagnostics) {
        let holder = "client \"\(other.client)\" (\(other.path.position.seen(from: path.position)))"
        if let format = output.format.value, let otherFormat = other.output.format.value,
            !(format.isShared && format == otherFormat)
        {
            let shared = alternatives(FormatRegistry.all.filter { $0.isShared }.map { $0.name })
            diagnostics.error(
                at: path.position,
                "\(path.value) is already an output of \(holder); write another path, or format \(shared) in both")
            return
        }
        func compare<Value: Equatable>(
            _ name: String, _ value: Setting<Value>, _ otherValue: Setting<Value>, _ text: (Value) -> String
        ) {
            guard !value.isWrong, !otherValue.isWrong, value.value != otherValue.value else { return }
            func shown(_ value: Value?) -> String { value.map { "\(name) \(text($0))" } ?? "no \(name)" }
            diagnostics.error(
                at: value.position ?? path.position,
                "\(path.value) has \(shown(value.value)) here and \(shown(otherValue.value)) in \(holder); write the same in both"
            )
        }
        compare("mode", output.mode, other.output.mode) { FileMode.text($0) }
        compare("group", output.group, other.output.group) { $0 }
        compare("\"as\"", output.owner, other.output.owner) { $0 }
    }
}
