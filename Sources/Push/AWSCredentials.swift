/// The lines of an AWS token, as in an environment file.
struct AWSCredentials {
    let keyID: String
    let secretKey: String
    let sessionToken: String?

    /// Nil without key id or secret key.
    init?(_ text: String) {
        let lines = Self.lines(text)
        guard let keyID = lines["AWS_ACCESS_KEY_ID"], let secretKey = lines["AWS_SECRET_ACCESS_KEY"] else { return nil }
        self.keyID = keyID
        self.secretKey = secretKey
        sessionToken = lines["AWS_SESSION_TOKEN"]
    }

    /// The parts of the token that must not be shown.
    var texts: [String] { [keyID, secretKey, sessionToken].compactMap(\.self) }

    private static func lines(_ text: String) -> [String: String] {
        var lines: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.hasPrefix("export ") ? line.dropFirst("export ".count) : line
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, line.hasPrefix("AWS_") else { continue }
            var value = parts[1]
            while value.last?.isWhitespace == true { value = value.dropLast() }
            if value.count >= 2, let quote = value.first, quote == "\"" || quote == "'", value.last == quote {
                value = value.dropFirst().dropLast()
            }
            if !value.isEmpty { lines[String(parts[0])] = String(value) }
        }
        return lines
    }
}
