import AppleClientSecret
internal import Failures
import Model

/// The finding in an output, as health judges it.
enum OutputFinding {
    /// It was not read yet.
    case unread
    case unreadable(Failure)
    case missing
    /// No client secret at all.
    case strange
    /// A secret that Apple refuses, not merely because it has expired.
    case refused(Objection)
    /// A secret that Apple accepts, or did until it expired.
    case held(SecretInfo)

    /// - Parameters:
    ///   - read: the content of the file, or why it could not be read; nil while it was not read.
    ///   - refusal: why Apple refuses a secret now; nil if it may accept it.
    init(_ read: Result<[FileSlot: SlotObservation], Failure>?, _ slot: FileSlot, refusal: (SecretInfo) -> Objection?) {
        switch read {
        case nil: self = .unread
        case .failure(let failure): self = .unreadable(failure)
        case .success(let slots):
            switch slots[slot] {
            case nil: self = .missing
            case .unusable(nil): self = .strange
            case .unusable(let objection?): self = .refused(objection)
            case .secret(let secret):
                switch refusal(secret) {
                // The client, which may hold another one, reports that it has expired.
                case nil, .expired: self = .held(secret)
                case let objection?: self = .refused(objection)
                }
            }
        }
    }

    /// Whether applications find no secret there that Apple may accept.
    ///
    /// - Parameter isUnderWay: whether a missing secret may still come.
    func locksOut(isUnderWay: Bool) -> Bool {
        switch self {
        // An application of another user, or with free descriptors, may be able to read it.
        case .unreadable(let failure): !failure.code.traits.contains(.ofReader)
        case .missing: !isUnderWay
        case .strange, .refused: true
        case .unread, .held: false
        }
    }

    /// Why applications cannot use the content; nil if it is not known that they cannot.
    func failure(at path: AbsolutePath) -> Failure? {
        switch self {
        case .unreadable(let failure): failure
        case .missing: Failure(.noSecret, at: .path(path))
        case .strange: Failure(.noSecret, at: .path(path), detail: "what it holds is not a client secret")
        case .refused(let objection): Failure(.secretUnacceptable, at: .path(path), detail: "it \(objection.words)")
        case .unread, .held: nil
        }
    }
}
