package import AppleClientSecret
package import Failures
package import Model

/// The result of a ``PushRoleRequest``.
package enum PushResult: Hashable, Sendable {
    /// The API reports that it has taken the secret, or holds it already, and showed this then. The reading may be an older
    /// answer. With the time of the write, by the API's clock; nil if the API held it already.
    case published(PushPlaceReading, at: WallTime? = nil)
    case read(PushPlaceReading)
    /// Whether production runs with the last secrets put there; false while it is being deployed. With the deployment that was
    /// begun for them.
    case redeployed(ready: Bool, begun: BegunDeployment? = nil)
    /// And when a write was sent, by the API's clock, that may have been carried out; nil if none was.
    case failed(RoleFailure, at: WallTime? = nil)
}

/// The answer as the push role writes it, on one line.
extension PushResult: JSONDocument {
    private enum Kind: String, JSONString {
        case published, read, redeployed, failed
    }

    private var kind: Kind {
        switch self {
        case .published: .published
        case .read: .read
        case .redeployed: .redeployed
        case .failed: .failed
        }
    }

    private var reading: PushPlaceReading? {
        switch self {
        case .published(let reading, _), .read(let reading): reading
        case .redeployed, .failed: nil
        }
    }

    private var failure: RoleFailure? {
        if case .failed(let failure, _) = self { failure } else { nil }
    }

    /// When the place was written to, or may have been.
    package var writtenAt: WallTime? {
        switch self {
        case .published(_, let moment), .failed(_, let moment): moment
        case .read, .redeployed: nil
        }
    }

    private var isReady: Bool? {
        if case .redeployed(let isReady, _) = self { isReady } else { nil }
    }

    private var begun: BegunDeployment? {
        if case .redeployed(_, let begun) = self { begun } else { nil }
    }

    package init(_ result: PushResult?, _ members: inout JSONMembers) throws(JSONError) {
        func moment() throws(JSONError) -> WallTime? {
            try members.orAbsent("written_at", (result?.writtenAt).map(UnixTime.init))?.moment
        }
        switch try members("result", result?.kind) {
        case .published:
            self = .published(
                try PushPlaceReading(result?.reading, &members, holdsAs: "verified"), at: try moment())
        case .read: self = .read(try PushPlaceReading(result?.reading, &members, holdsAs: "holds"))
        case .redeployed:
            let isReady = try members("ready", result?.isReady)
            self = .redeployed(ready: isReady, begun: try members.orAbsent("deployment", result?.begun))
        case .failed: self = .failed(try RoleFailure(result?.failure, &members, codesOf: "push_"), at: try moment())
        }
    }
}

extension RoleFailure {
    /// The same for failures of the network.
    ///
    /// - Parameter hidden: secrets that must not be shown in a message of the network library.
    init(_ failure: TransportFailure, _ hidden: EchoedSecrets) {
        let detail = hidden.words(failure.report)
        self.init(failure.kind.codes.push, detail.isEmpty ? nil : detail)
    }
}
