import AppleClientSecret
import Failures
import Linux
import Push
import Rotation

/// The daemon's client of the services that push secrets to APIs: a socket for each target.
struct Pusher: Sendable {
    private let status: String
    private let service: NetworkService

    /// - Parameters:
    ///   - status: the daemon's status socket; the directory of the services' lies beside it.
    ///   - identity: the daemon's user.
    ///   - cancel: ends every request when raised.
    ///   - patience: in milliseconds. A service gives up 60 s after the request, and is started for it.
    init(besideSocket status: String, identity: Identity, cancel: EventCounter?, patience: Int64 = 75_000) {
        self.status = status
        service = NetworkService(
            missing: .pushServiceMissing, silent: .pushServiceSilent, identity: identity, cancel: cancel,
            patience: patience)
    }

    /// Pushes a secret, and with it those of other targets that belong into the same document; returns whether it was
    /// read back, nil where the API does not show it. Blocks.
    func push(
        _ token: Token, to target: TargetName, with others: [TargetName: Token] = [:]
    ) throws(Failure) -> Bool? {
        var named: [String: Token] = [:]
        for (target, token) in others { named[target.description] = token }
        switch try ask(PushQuestion(.publish, secret: token, others: named), of: target) {
        case .published(let verified): return verified
        case .failed(let failure): throw failure.of(target)
        case .read, .redeployed:
            throw Failure(.pushServiceSilent, at: .target(target), detail: "it answers another question")
        }
    }

    /// Whether the target holds a secret; nil where the API does not show that. Blocks.
    func read(_ token: Token, at target: TargetName) throws(Failure) -> Bool? {
        switch try ask(PushQuestion(.read, secret: token), of: target) {
        case .read(let holds): return holds
        case .failed(let failure): throw failure.of(target)
        case .published, .redeployed:
            throw Failure(.pushServiceSilent, at: .target(target), detail: "it answers another question")
        }
    }

    /// Has a target's project deployed again, unless that is done or under way; returns whether it runs with what was pushed
    /// last. Blocks.
    func redeploy(_ target: TargetName) throws(Failure) -> Bool {
        switch try ask(.redeploy, of: target) {
        case .redeployed(let isReady): return isReady
        case .failed(let failure): throw failure.of(target)
        case .published, .read:
            throw Failure(.pushServiceSilent, at: .target(target), detail: "it answers another question")
        }
    }

    /// Why nothing could be pushed, as far as that is known without a request.
    func obstacle(to target: TargetName) -> Failure? { service.obstacle(at: socket(of: target), for: .target(target)) }

    private func socket(of target: TargetName) -> NetworkService.Socket {
        NetworkService.Socket("push", of: target, besideSocket: status)
    }

    private func ask(_ question: PushQuestion, of target: TargetName) throws(Failure) -> PushResult {
        try service.ask(
            question.request, at: socket(of: target), for: .target(target), otherwise: "it is no answer to a push",
            read: PushResult.init(answer:))
    }
}

extension PushFailure {
    /// The same for the core.
    fileprivate func of(_ target: TargetName) -> Failure {
        Failure(
            code.failure, at: .target(target), detail: detail.map(Redaction.foreign),
            retryAfter: retryAfter.map { Seconds(Int64($0)) })
    }
}
