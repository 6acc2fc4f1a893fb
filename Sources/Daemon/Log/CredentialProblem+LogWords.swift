import AppleClientSecret
import Failures
import Model

extension CredentialProblem {
    /// The refused user, the reason, and the remedy.
    var sentence: String { "\(row.words); \(row.remedy)" }

    var fields: [JournalField] { row.fields }

    private var row: (words: String, remedy: Remedy, fields: [JournalField]) {
        switch self {
        case .notRoot(let user):
            (
                "refused a credential to the user \(user), because only root's systemd is served",
                .say("load it from a system unit"), []
            )
        case .noUnit:
            (
                "refused a credential to a program of root, because it asked for no unit",
                .say("name the socket in the unit's LoadCredential="), []
            )
        case .notConfigured(let credential):
            (
                "refused \(credential.unit) the credential \"\(credential.name)\", because no client has it",
                .say(
                    "write \"credential: {unit: \(credential.unit), name: \(credential.name)}\" under its client"),
                [.unit(credential.unit)]
            )
        case .noSecret(let credential, let client):
            (
                "\(client): refused \(credential.unit) the credential \"\(credential.name)\", because there is no secret "
                    + "yet", .say("see why", see: .status), [.client(client), .unit(credential.unit)]
            )
        case .stopping(let credential):
            (
                "refused \(credential.unit) the credential \"\(credential.name)\", because there is no secret yet and the "
                    + "daemon stops", .say("start the unit again"), [.unit(credential.unit)]
            )
        }
    }
}
