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

    /// The values of the members; nil in a result that has no such member.
    private var parts:
        (kind: Kind, reading: PushPlaceReading?, isReady: Bool?, begun: BegunDeployment?, failure: RoleFailure?)
    {
        switch self {
        case .published(let reading, _): (.published, reading, nil, nil, nil)
        case .read(let reading): (.read, reading, nil, nil, nil)
        case .redeployed(let isReady, let begun): (.redeployed, nil, isReady, begun, nil)
        case .failed(let failure, _): (.failed, nil, nil, nil, failure)
        }
    }

    /// When the place was written to, or may have been.
    package var writtenAt: WallTime? {
        switch self {
        case .published(_, let moment), .failed(_, let moment): moment
        case .read, .redeployed: nil
        }
    }

    package init(_ result: PushResult?, _ members: inout JSONMembers) throws(JSONError) {
        let parts = result?.parts
        func moment() throws(JSONError) -> WallTime? {
            try members.orAbsent("written_at", (result?.writtenAt).map(UnixTime.init))?.moment
        }
        switch try members("result", parts?.kind) {
        case .published:
            self = .published(
                try PushPlaceReading(parts?.reading, &members, holdsAs: "verified"), at: try moment())
        case .read: self = .read(try PushPlaceReading(parts?.reading, &members, holdsAs: "holds"))
        case .redeployed:
            let isReady = try members("ready", parts?.isReady)
            self = .redeployed(ready: isReady, begun: try members.orAbsent("deployment", parts?.begun))
        case .failed: self = .failed(try RoleFailure(parts?.failure, &members, codesOf: "push_"), at: try moment())
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
