import Formats

/// The lines of an AWS token, as in an environment file.
struct AWSCredentials {
    let keyID: String
    let secretKey: String
    let sessionToken: String?

    /// Nil without key id or secret key.
    init?(_ text: String) {
        let found = FoundAssignment.all(in: Array(text.utf8)).filter { !$0.value.isEmpty }
        let values = Dictionary(found.map { ($0.name, String(decoding: $0.value, as: UTF8.self)) }) { $1 }
        guard let keyID = values["AWS_ACCESS_KEY_ID"], let secretKey = values["AWS_SECRET_ACCESS_KEY"] else {
            return nil
        }
        self.keyID = keyID
        self.secretKey = secretKey
        sessionToken = values["AWS_SESSION_TOKEN"]
    }

    /// The parts of the token that must not be shown.
    var texts: [String] { [keyID, secretKey, sessionToken].compactMap(\.self) }
}
