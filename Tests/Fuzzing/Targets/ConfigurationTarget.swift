import AppleClientSecret
import Model

@testable import Config

/// A text ends in a configuration that holds together, or in diagnostics that point into it and give nothing away. A line
/// of four equals signs begins an addition.
enum ConfigurationTarget {
    private static let separator = Array("\n====\n".utf8)

    static func run(_ bytes: [UInt8]) throws {
        let texts = pieces(of: bytes)
        var sources: [SourceFile] = []
        for (number, text) in texts.enumerated() {
            let name = number == 0 ? "c.yaml" : "c.d/\(number).yaml"
            sources.append(SourceFile(name: name, path: try known(AbsolutePath("/etc/" + name)), bytes: text))
        }
        switch ConfigurationParser.parse(main: sources[0], additions: Array(sources[1...])) {
        case .success(let loaded):
            try check(loaded.configuration)
            try check(loaded.warnings, in: sources)
        case .failure(let error):
            try promise(error.diagnostics.contains { $0.severity == .error }, "refused without an error")
            try check(error.diagnostics, in: sources)
        }
    }

    private static func check(_ configuration: Configuration) throws {
        try promise(!configuration.clients.isEmpty, "no clients")
        for client in configuration.clients.values {
            try promise(configuration.keys[client.key] != nil, "a client without its key")
            try promise(client.renewBefore > 0 && client.renewBefore < client.lifetime.seconds, "renewed for ever")
            for output in client.outputs {
                try promise(!configuration.inputs.contains(output.path), "an output that is an input")
            }
        }
    }

    private static func check(_ diagnostics: [Diagnostic], in sources: [SourceFile]) throws {
        let lines = Dictionary(uniqueKeysWithValues: sources.map { ($0.name, lengths(of: $0.bytes)) })
        for diagnostic in diagnostics {
            let position = diagnostic.position
            guard let lines = lines[position.file] else {
                throw BrokenPromise(description: "a diagnostic for another file: \(diagnostic)")
            }
            try promise(
                position.line >= 1 && position.line <= lines.count && position.column >= 1
                    && position.column <= lines[position.line - 1] + 1, "a diagnostic beside the text: \(diagnostic)")
            try Shown.check(diagnostic.description)
        }
    }

    private static func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        // More files than these teach nothing new.
        while pieces.count < 3,
            let cut = rest.indices.first(where: {
                rest[$0] == separator[0] && rest[$0...].starts(with: separator)
            })
        {
            pieces.append(Array(rest[..<(cut + 1)]))
            rest = rest[(cut + separator.count)...]
        }
        return pieces + [Array(rest)]
    }

    /// The number of characters of each line.
    private static func lengths(of bytes: [UInt8]) -> [Int] {
        var place = TextPlace()
        var lengths = [0]
        for byte in bytes {
            place.pass(byte)
            if place.line > lengths.count { lengths.append(0) }
            lengths[place.line - 1] = place.column - 1
        }
        return lengths
    }
}
