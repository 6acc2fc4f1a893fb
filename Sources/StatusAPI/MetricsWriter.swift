import Rotation

/// Writes families of metrics one after the other.
struct MetricsWriter {
    enum Kind: String {
        case gauge
        case counter
    }

    private(set) var output = ""
    /// The beginning of every name.
    private let prefix: String
    private var name = ""

    init(prefix: String = "clientsecretd_") {
        self.prefix = prefix
    }

    /// Begins a family, whose samples follow.
    mutating func family(_ name: String, _ help: String, _ kind: Kind) {
        self.name = prefix + name
        output += "# HELP \(self.name) \(help)\n# TYPE \(self.name) \(kind.rawValue)\n"
    }

    mutating func sample(_ labels: [(name: String, value: String)], _ value: Int64) {
        sample(labels, String(value))
    }

    private mutating func sample(_ labels: [(name: String, value: String)], _ value: String) {
        let list = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        output += name + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
    }

    /// Writes a value given in hundredths, with two decimals.
    mutating func sample(_ labels: [(name: String, value: String)], hundredths: Int64) {
        let rest = String(hundredths % 100)
        sample(labels, "\(hundredths / 100).\(rest.count < 2 ? "0" : "")\(rest)")
    }

    mutating func clientGauge(
        _ name: String, _ help: String, _ clients: [ClientView], _ value: (ClientView) -> Int64
    ) {
        family(name, help, .gauge)
        for client in clients { sample([("client", client.name.description)], value(client)) }
    }

    /// One sample for each output of each client.
    mutating func outputs(
        _ name: String, _ help: String, _ kind: Kind, _ clients: [ClientView], _ value: (OutputView) -> Int64
    ) {
        family(name, help, kind)
        for client in clients {
            // Two variables of one file have the same path, so they share one sample.
            var paths: Set<AbsolutePath> = []
            for output in client.outputs where paths.insert(output.path).inserted {
                let labels = [("client", client.name.description), ("path", output.path.description)]
                let values = client.outputs.filter { $0.path == output.path }.map(value)
                sample(labels, kind == .gauge ? values.min() ?? 0 : values.max() ?? 0)
            }
        }
    }

    /// Two samples for each client: attempts that succeeded, and attempts that failed.
    mutating func tally(_ name: String, _ help: String, _ clients: [ClientView], _ value: (ClientView) -> Tally) {
        family(name, help, .counter)
        for client in clients {
            let tally = value(client)
            for (result, count) in [("success", tally.successes), ("failure", tally.failures)] {
                sample([("client", client.name.description), ("result", result)], Int64(count))
            }
        }
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
