package import AppleClientSecret

/// A ``StoreResult`` as the role sends it, with the expiry of the role's own certificate.
package struct StoreAnswer: Equatable, Sendable {
    package let result: StoreResult
    /// When this machine's client certificate expires; nil if there is none, or it could not be read.
    package let certificateExpiresAt: WallTime?

    package init(_ result: StoreResult, certificateExpiresAt: WallTime? = nil) {
        self.result = result
        self.certificateExpiresAt = certificateExpiresAt
    }

    /// The longest line that answers a request, in bytes. Half of the keys are of secrets, with values of up to
    /// ``StoreEntry/longest`` in base64; rollouts have some hundred bytes. A page of a list has 1 MiB of etcd's answer.
    package static func longest(for request: StoreRequest) -> Int { (2 << 20) + request.keys * (11 << 10) }

    /// The most JSON values of such a line: an entry has five at most.
    package static func mostValues(for request: StoreRequest) -> Int { 4_096 + request.keys * 8 }

    /// Reads the line of an answer; nil for anything else.
    ///
    /// - Parameter request: the one that was asked; nil if that is not known.
    package init?(line bytes: [UInt8], to request: StoreRequest? = nil) {
        guard let answer = try? StoreAnswer(parsing: bytes, atMost: request.map(Self.mostValues) ?? .max),
            answer.result.isWithinLimits
        else { return nil }
        self = answer
    }
}

extension StoreAnswer: JSONDocument {
    package init(_ answer: StoreAnswer?, _ members: inout JSONMembers) throws(JSONError) {
        result = try StoreResult(answer?.result, &members)
        let expiry = (answer?.certificateExpiresAt).map(UnixTime.init)
        certificateExpiresAt = try members.orAbsent("certificate_expires", expiry)?.moment
    }
}
