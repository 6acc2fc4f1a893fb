import AppleClientSecret
import Failures

/// The description of one kind of API. Each kind is a file of `Kinds/`. Its requests, the answers that mean done, and its
/// readable content are data. A function next to them does everything that data cannot express.
///
/// Templates hold `{{name}}` for a setting of the target or for a value of the exchange: `client_secret`, `token`, and the
/// values that ``merge`` sets. In a path it is percent-encoded, `{{name/}}` except for its slashes. In a JSON body it becomes a
/// string, and `{{name!}}` becomes plain JSON.
package struct PushKind: Sendable {
    /// Every kind with requests of its own; the target's settings define `http`.
    package static let all = [supabase, vercel, netlify, pocketbase, kubernetes, vault, awsSecretsManager]

    package let name: String
    package let settings: [PushSetting]
    /// The address of the API, unless the target names it (a template); nil if a target has to.
    package let endpoint: String?
    /// For a kind whose standard ``endpoint`` needs no token of the target.
    package var own: OwnFiles?
    package let authorization: Authorization
    /// The setting that lists the parts of the place that are written; nil if that is all of it.
    var parts: String?
    /// Whether the same settings with a token of another account name another place.
    var isOfToken: @Sendable ([String: String]) -> Bool = { _ in false }
    /// The document that a write replaces; nil if a write changes its own place only.
    var document: Document?
    /// Sets the values that join the secret to the place's content, or throws if it does not fit; nil if the write changes
    /// nothing else.
    var merge: (@Sendable (inout PushExchange, PushExchange.Found) throws(RoleFailure) -> Void)?
    let write: PushRequest
    /// The request before and after a write; nil if nothing can be read.
    let read: PushRequest?
    /// The required form of the answer to ``read``, before anything is written.
    var shape: [AnswerShape] = []
    /// The form of the answer to ``read`` while applications use the place; none if it does not show that. Otherwise the place
    /// is switched off: it is still written, with a warning.
    var inUse: [AnswerShape] = []
    /// The client id with which the place uses the secret, by the answer to ``read``; empty or nil if it does not show one.
    var clientID: (@Sendable (PushExchange, JSONValue) -> String?)?
    /// The facts that the answer to ``read`` shows of the place: whether it is there and holds anything, and, if possible,
    /// whether it is the secret. They decide about every read, also the one before a write.
    let shown: Look
    /// How something is created where ``read`` finds nothing; nil if it has to be there.
    var creation: Creation?
    /// For a kind whose settings act with the next deployment only.
    var redeployment: Redeployment?
    /// The meaning of error answers beyond their status; the first rule that matches counts.
    var errors: [ErrorRule] = []

    /// The files of a pod for the API of its own cluster.
    package struct OwnFiles: Sendable {
        package let token: String
        /// A PEM file.
        package let authorities: String
    }

    /// A document that a write replaces as a whole, also if the API refuses that after another program's write.
    struct Document: Sendable {
        /// The setting that names the target's member of it.
        let member: String
        /// The setting that names the document itself.
        let name: String
    }

    /// How a request is authorized.
    package enum Authorization: Sendable {
        /// `Authorization: Bearer TOKEN`.
        case bearer
        /// The token in a header of this name.
        case header(String)
        /// The token is a password: this request gives the value of `Authorization`, at this JSON pointer.
        case login(PushRequest, token: [String])
        /// AWS Signature Version 4 for this service; the token is lines `AWS_ACCESS_KEY_ID=…`.
        case awsSignature(service: String)
        /// The requests' own headers hold `{{token}}`, if they need one.
        case ownHeaders
    }

    /// How something is created that is not there yet.
    struct Creation: Sendable {
        /// The request that creates it; nil if the write does.
        var request: PushRequest?
        /// The form of the answer that reports it as missing, if its status is not enough.
        var shape: [AnswerShape] = []
        /// Shows that the write creates the intended object, and nothing else at the same address; not sent if the answer that
        /// reports it as missing has the form of ``evident``.
        var confirmation: PushRequest?
        var confirmed: [AnswerShape] = []
        /// The doubt if the confirmation is refused: completes "that … is not shown".
        var doubt = ""
        /// The form of an answer that by itself shows that the intended object is missing. Without a ``confirmation``, nothing
        /// is created after any other answer.
        var evident: [AnswerShape] = []
        var misplaced: [Misplaced] = []
    }

    /// The prefix or suffix of a setting's value that belongs into another setting.
    struct Misplaced: Sendable {
        let setting: String
        var atEnd = false
        /// A template.
        let text: String
    }

    /// Judges an answer to ``read`` of the form ``shape``. A long list has further pages, which it requests.
    typealias Look = @Sendable (inout PushExchange, HTTPAnswer) throws(RoleFailure) -> ShownSecret

    /// Whether its target describes the requests itself.
    var isCustom: Bool { if case .ownHeaders = authorization { true } else { false } }

    /// For a kind whose secrets take effect only with the next deployment, so that targets may have `redeploy`. The setting
    /// that has to include production, which is deployed; nil for other kinds.
    package var deployedBy: String? { redeployment?.environments }

    /// The settings whose value belongs into another setting, with a sentence about it. A secret would be
    /// created next to the one that is meant.
    package func misplaced(in settings: [String: String]) -> [(setting: String, words: String)] {
        (creation?.misplaced ?? []).compactMap { rule in
            let text = PushTemplate.expand(rule.text, settings) { value, _ in value }
            guard let value = settings[rule.setting], rule.atEnd ? value.hasSuffix(text) : value.hasPrefix(text) else {
                return nil
            }
            return (rule.setting, "\"\(rule.setting)\" \(rule.atEnd ? "ends in" : "begins with") \"\(text)\"")
        }
    }

    /// An answer with this status, or with any that means an error, and with one of these texts where there are any.
    struct ErrorRule: Sendable {
        var status: Int?
        /// The member of an answer with a status of success that lists failures.
        var listing: String?
        var contains: [String] = []
        let meaning: FailureCode
    }
}
