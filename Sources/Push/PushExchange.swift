package import AppleClientSecret
package import Failures
import Model

/// Pushes one secret to one place behind an API, or checks whether that place holds it. A ``PushKind`` has the details of each
/// API.
///
/// The rules are:
/// - Only the statuses that the kind lists mean success; a redirect does not.
/// - A place that holds only the secret is overwritten by the rule for files (``checkWhole(_:isOwn:)``).
/// - A place that shows the client id of another client is not written.
/// - A readable place is read first. Nothing is written unless the answer has the form of this API and of this kind of value,
///   or reports in the API's own way that there is nothing yet. A secret that is there already is not written again.
/// - A readable place is read back after writing. The answer may be older than the write.
/// - Other content next to the secret is written back unchanged.
/// - Other targets' secrets that belong into the same document are written with this one, in one request.
/// - If the API took the token a moment ago, a status that means a refused token means a refused change.
/// - Only the known members of an API's error are reported, in 200 characters at most, without secret and token.
package struct PushExchange {
    let target: PushTarget
    let token: String
    /// The members that are written with the secret, and their texts.
    let others: [(member: String, text: String)]
    let send: (PushHTTPRequest) -> Result<HTTPAnswer, TransportFailure>
    let secretText: String
    /// Settings and values that the exchange has learnt; a template with `{{name!}}` takes one as JSON.
    var values: [String: String]
    /// The value of `Authorization` for a kind with a login.
    private(set) var session: String?
    /// The content that was seen in the place; nil if that is not known.
    private var placeContent: PushPlaceContent?
    /// Whether applications use the place, as it was last shown; nil if that is not known.
    private var use: PushPlaceUse?
    /// The secret shown before the write.
    private var shownBefore: PushKind.ShownSecret?
    /// The API's clock at its last answer, or this machine's if the API shows none.
    var clock: WallTime?
    /// The request, with the daemon's knowledge of the place.
    private let order: PushRoleRequest
    /// When the daemon last wrote there before this exchange, by the API's clock.
    var writtenAt: WallTime? { order.writtenAt }
    /// Whether production had what was written then.
    var isDeployed: Bool { order.isDeployed }
    /// Whether the daemon has ever written there, as far as is known.
    var wasWritten: Bool { order.wasWritten || writtenAt != nil }
    /// When this exchange wrote there, or may have.
    private var wroteAt: WallTime?
    /// Whether the API may have got the last request.
    var wasSent = true
    /// The deployment that was begun for the pushed secrets.
    var begun: BegunDeployment?
    /// Whether the API has taken the token in a login or a read.
    var isTokenTaken = false

    /// How often a value that another program changed meanwhile is read again.
    private static let attempts = 3

    /// - Parameters:
    ///   - order: the request, with all of the daemon's knowledge of the place.
    ///   - token: the content of the token's place; empty if there is none.
    ///   - others: the order's secrets of other targets, by the names of their members of the same document.
    ///   - send: sends one request.
    package init(
        _ order: PushRoleRequest, of target: PushTarget, token: String, others: [String: Token],
        send: @escaping (PushHTTPRequest) -> Result<HTTPAnswer, TransportFailure>
    ) {
        self.order = order
        self.target = target
        self.token = token
        self.send = send
        begun = order.begun
        secretText = order.secret?.withBytes { String(decoding: $0, as: UTF8.self) } ?? ""
        self.others = others.sorted { $0.key < $1.key }.map { member, token in
            (member, token.withBytes { String(decoding: $0, as: UTF8.self) })
        }
        values = target.settings
        values["client_secret"] = secretText
        values["client_secret_base64"] = Base64.encode(Array(secretText.utf8))
    }

    /// Carries out the request.
    package mutating func run() -> PushResult {
        do throws(RoleFailure) {
            if order.verb == .read, target.kind.read == nil { return .read(PushPlaceReading(holds: nil)) }
            try logIn()
            switch order.verb {
            case .publish: return .published(try publish(), at: wroteAt)
            case .read:
                let found = try look()
                if let outdated = try outdatedUse() { use = outdated }
                return .read(reading(of: found))
            case .redeploy:
                guard let redeployment = target.kind.redeployment else {
                    throw RoleFailure(.pushUnconfigured, "targets of this kind cannot deploy")
                }
                let isReady = try deploy(redeployment)
                return .redeployed(ready: isReady, begun: begun)
            }
        } catch {
            return .failed(error.ofPlace(holding: placeContent), at: wroteAt)
        }
    }

    // MARK: Steps

    private mutating func logIn() throws(RoleFailure) {
        guard case .login(let request, let pointer) = target.kind.authorization else { return }
        values["token"] = token
        defer { values["token"] = nil }
        let answer: HTTPAnswer
        do throws(RoleFailure) {
            answer = try self.answer(to: request)
        } catch {
            // The API does not show whether the name, the password or the request is wrong.
            throw error.code == .pushRejected
                ? RoleFailure(.pushCredentialsRefused, error.detail, retryAfter: error.retryAfter) : error
        }
        guard let session = json(answer)?[pointer]?.text, !session.isEmpty else {
            throw RoleFailure(.pushAnswerUnexpected, "the answer to the login has no token")
        }
        self.session = session
    }

    private mutating func publish() throws(RoleFailure) -> PushPlaceReading {
        var attempt = 1
        while true {
            do throws(RoleFailure) {
                guard let request = try prepare() else { return PushPlaceReading(holds: true, use: use) }
                try write(request)
                break
            } catch {
                guard error.code == .pushConflict, error.retryAfter == nil, attempt < Self.attempts else { throw error }
                attempt += 1
            }
        }
        guard target.kind.read != nil else { return PushPlaceReading(holds: nil) }
        // The API has taken the secret. Whether it shows it is looked at again.
        guard let found = try? look() else { return PushPlaceReading(holds: false, use: use) }
        // A digest that cannot be recognised would have changed at least.
        if case .found(_, .digest(let digest)) = found, .digest(digest) == shownBefore {
            return PushPlaceReading(holds: false, instead: .something, use: use)
        }
        return reading(of: found)
    }

    /// The report about the place.
    private func reading(of found: Found) -> PushPlaceReading {
        // A place that is gone holds nothing. That is no failure, because after one it would only be read again. The answer
        // causes a push, which creates the place or fails with the reason.
        guard case .found(_, let shown) = found else { return PushPlaceReading(holds: false) }
        return PushPlaceReading(holds: shown.holds, instead: shown.holds == false ? shown.content : nil, use: use)
    }

    /// Sends the request that writes the secret. If a failed request may have been carried out, it counts as a write at its
    /// time. The content of the place is then no longer known.
    private mutating func write(_ request: PushRequest) throws(RoleFailure) {
        let before = placeContent
        placeContent = before == .nothing ? nil : before.map { _ in PushPlaceContent.something }
        wroteAt = clock
        do throws(RoleFailure) {
            let answer = try answer(to: request, isChange: true)
            wroteAt = answer.moment
            try check(answer, request.confirmed)
        } catch {
            let isDoubtful =
                [
                    .pushTimedOut, .pushUnreachable, .pushTLSFailed, .pushServerFailed, .pushAnswerUnexpected,
                    .pushStatusNotListed,
                ].contains(error.code)
            if !wasSent || !isDoubtful { wroteAt = nil }
            // After a conflict another program's value is there.
            if !wasSent || !isDoubtful && error.code != .pushConflict { placeContent = before }
            throw error
        }
    }

    /// Reads the place and sets the values that are built from its content. Returns the request that writes the secret; nil if
    /// it is there already.
    private mutating func prepare() throws(RoleFailure) -> PushRequest? {
        placeContent = nil
        guard target.kind.read != nil else { return target.kind.write }
        let found = try look()
        var request = target.kind.write
        switch found {
        case .found(_, let shown):
            guard shown != .same else { return nil }
            placeContent = shown.content
            if case .unwritable(_, let failure) = shown { throw failure }
            shownBefore = shown
        case .missing(let answer, let failure):
            // A token that may not see the content gets the same answer. The place is empty only where that is ruled out.
            guard let creation = target.kind.creation else { throw failure }
            try confirm(creation, answer, failure)
            placeContent = .nothing
            request = creation.request ?? request
        }
        try target.kind.merge?(&self, found)
        return request
    }

    /// The content found in the place.
    enum Found {
        /// An answer with the form of ``PushKind/shape``, and the secret it shows.
        case found(HTTPAnswer, PushKind.ShownSecret)
        /// The API's own answer that there is nothing, and the failure that it is where nothing can be created.
        case missing(HTTPAnswer, RoleFailure)

        var answer: HTTPAnswer {
            switch self {
            case .found(let answer, _), .missing(let answer, _): answer
            }
        }

        var isMissing: Bool { if case .missing = self { true } else { false } }
    }

    private mutating func look() throws(RoleFailure) -> Found {
        guard let read = target.kind.read else { throw RoleFailure(.pushUnconfigured) }
        let received = try received(read)
        if let failure = failureOfReading(received, read) {
            guard failure.code == .pushPlaceMissing else { throw failure }
            guard AnswerShape.fits(target.kind.creation?.shape ?? [], json(received) ?? .null, filled) else {
                throw failure
            }
            // Rights are judged before anything is looked for.
            isTokenTaken = true
            return .missing(received, failure)
        }
        isTokenTaken = true
        try check(received, target.kind.shape)
        try checkClient(received)
        use = use(received)
        return .found(received, try target.kind.shown(&self, received))
    }

    /// A template with the settings and the values that the exchange has learnt.
    func filled(_ template: String) -> String {
        PushTemplate.expand(template, values) { value, _ in value }
    }
}
