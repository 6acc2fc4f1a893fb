import Rotation

/// Writes families of metrics one after the other.
struct MetricsWriter {
    enum Kind: String {
        case gauge
        case counter
    }

    private(set) var output = ""
    private var name = ""

    /// Begins a family, whose samples follow.
    mutating func family(_ name: String, _ help: String, _ kind: Kind) {
        self.name = "clientsecretd_" + name
        output += "# HELP \(self.name) \(help)\n# TYPE \(self.name) \(kind.rawValue)\n"
    }

    mutating func sample(_ labels: [(name: String, value: String)], _ value: Int64) {
        let list = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        output += name + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
    }

    mutating func clientGauge(
        _ name: String, _ help: String, _ clients: [ClientView], _ value: (ClientView) -> Int64
    ) {
        family(name, help, .gauge)
        for client in clients { sample([("client", client.name.description)], value(client)) }
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
