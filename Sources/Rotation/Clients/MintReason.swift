package import AppleClientSecret
internal import Failures
package import Model

/// Why a secret is minted.
package enum MintReason: Hashable, Sendable {
    /// No secret was found.
    case missing
    /// Only unusable secrets were found.
    case found(AbsolutePath, Objection)
    /// The current secret no longer fits the key or the configured ids, or its times rule it out.
    case unusable(SecretInfo)
    case due(SecretInfo)
    /// Not due yet, but it shares a file or an action with a secret that is.
    case together(SecretInfo)
    case asked

    /// The reason, as the end of a sentence.
    package var words: String {
        switch self {
        case .missing: "because there was no usable secret"
        case .found(let path, let objection):
            "because there was no usable secret; the one in \(Printable.name(path.description)) \(objection.words)"
        case .unusable(let issued): "because \(issued.fingerprint) no longer fits the key, the ids or the time"
        case .due: "because the one before was due"
        case .together: "together with a client that shares a file or an action"
        case .asked: "because it was asked for"
        }
    }
}
