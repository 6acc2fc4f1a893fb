import AppleClientSecret
import Failures
import Model
import Rotation

/// What may lie where a machine without a private key looks for its secrets.
enum Offer: Hashable {
    /// With the key that has really signed it; nil for a forged one.
    case secret(SecretInfo)
    /// Something that is no client secret.
    case junk
    /// More than anybody reads.
    case huge
    /// A file that cannot be read.
    case unreadable
}

extension Outside {
    func read(_ file: FileSource) -> Result<Outcome, Failure> {
        switch offer {
        case nil: return .success(.source(.missing))
        case .junk: return .success(.source(.foreign("it is no client secret")))
        case .huge, .unreadable: return .failure(Failure(.sourceUnreadable, at: .path(file.path)))
        case .secret(let secret):
            secretCache.insert(secret.fingerprint)
            guard case .secret(let issued) = judged(.secret(secret)) else { return .success(.source(.missing)) }
            return .success(.source(.secret(issued)))
        }
    }
}
