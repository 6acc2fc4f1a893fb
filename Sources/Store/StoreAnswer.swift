package import AppleClientSecret
import SignIn

/// A ``StoreResult`` as the role sends it, with the expiry of the role's own certificate.
package struct StoreAnswer: Equatable, Sendable {
    package let result: StoreResult
    /// When this machine's client certificate expires; nil where there is none, or it could not be read.
    package let certificateExpiresAt: WallTime?

    package init(_ result: StoreResult, certificateExpiresAt: WallTime? = nil) {
        self.result = result
        self.certificateExpiresAt = certificateExpiresAt
    }

    /// The line without its end.
    package var line: JSONText {
        guard case .object(let members) = result.answer, let certificateExpiresAt else { return result.answer }
        return .object(members + [("certificate_expires", .number(Int(certificateExpiresAt.secondsSinceEpoch)))])
    }

    /// Reads a ``line``; nil for anything else.
    package init?(line bytes: [UInt8], sha256: ([UInt8]) -> [UInt8]) {
        guard let result = StoreResult(answer: bytes, sha256: sha256) else { return nil }
        let seconds = (try? JSONValue(bytes, duplicates: .refused))?["certificate_expires"]?.whole
        self.init(result, certificateExpiresAt: seconds.map { WallTime(secondsSinceEpoch: $0) })
    }
}
