import AppleClientSecret
import Failures
import Formats
import Model

/// Whether a place may be written, and is used.
extension PushExchange {
    /// Throws unless a place that holds only the secret may be overwritten. It must be empty, or hold a client secret, even
    /// one with damaged claims, or this daemon's own content. Files of format `raw` judge what is a client secret here too.
    func checkWhole(_ text: String, isOwn: Bool = false) throws(RoleFailure) {
        guard !isOwn, !wasWritten, !FormatRegistry.standard.init(parameter: nil).mayReplace(Array(Self.bare(text).utf8))
        else { return }
        throw RoleFailure(
            .pushPlaceUnsuitable, "it holds a text that is no client secret and that clientsecretd did not write")
    }

    /// A text without the characters that may precede its content.
    static func bare(_ text: String) -> Substring { text.drop { $0 == "\u{FEFF}" || $0.isWhitespace } }

    /// Whether a text holds nothing, so that nothing is lost with it.
    static func isBlank(_ text: String) -> Bool { bare(text).isEmpty }

    /// Throws if the place is set up for another client id. Apple would refuse the secret there, and the replaced one may never
    /// be shown again.
    func checkClient(_ answer: HTTPAnswer) throws(RoleFailure) {
        guard let json = json(answer), let shown = target.kind.clientID?(self, json), !shown.isEmpty,
            let own = (try? CompactJWS(Array(secretText.utf8)))?.claims?.subject.description, shown != own
        else { return }
        throw RoleFailure(
            .pushOtherClient, hidden.words("it shows \(Printable.name(shown)), and the secret is for \(own)"))
    }

    /// Whether applications use the place, as the API shows it.
    func use(_ answer: HTTPAnswer) -> PushPlaceUse? {
        guard let json = json(answer) else { return nil }
        let problem = target.kind.inUse.lazy.compactMap { $0.mismatch(json, filled) }.first
        return problem.map { .unused(hidden.words($0)) } ?? .used
    }

    /// Throws unless an answer has the form that it has to have.
    func check(_ answer: HTTPAnswer, _ shapes: [AnswerShape]) throws(RoleFailure) {
        guard !shapes.isEmpty else { return }
        guard let json = json(answer) else { throw RoleFailure(.pushAnswerUnexpected, detail(of: answer)) }
        for shape in shapes {
            guard let words = shape.mismatch(json, filled) else { continue }
            throw RoleFailure(shape.meaning, hidden.words(words))
        }
    }

    /// Throws unless the write creates the intended object.
    mutating func confirm(
        _ creation: PushKind.Creation, _ missing: HTTPAnswer, _ failure: RoleFailure
    ) throws(RoleFailure) {
        if let misplaced = target.kind.misplaced(in: values).first {
            throw RoleFailure(.pushPlaceMissing, Printable.line(misplaced.words))
        }
        let hasEvidence = !creation.evident.isEmpty
        if hasEvidence, let json = json(missing), AnswerShape.fits(creation.evident, json, filled) { return }
        guard let confirmation = creation.confirmation else {
            guard hasEvidence else { return }
            throw RoleFailure(
                .pushAnswerUnexpected,
                (failure.detail ?? "") + "; this API reports in another way that nothing is there yet",
                retryAfter: failure.retryAfter)
        }
        let received = try received(confirmation)
        if let refusal = failureOfReading(received, confirmation) {
            guard [.pushCredentialsRefused, .pushPlaceMissing].contains(refusal.code) else { throw refusal }
            throw RoleFailure(
                .pushPlaceMissing,
                "nothing is there yet, and this token cannot see whether \(creation.doubt) (\(refusal.detail ?? ""))",
                retryAfter: refusal.retryAfter)
        }
        try check(received, creation.confirmed)
    }
}
