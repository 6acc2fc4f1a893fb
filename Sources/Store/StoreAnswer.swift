package import AppleClientSecret

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

    /// The longest ``line`` that answers a question, in bytes. Most values have some hundred bytes, and a key that holds more
    /// than its share leaves less to the others.
    package static func longest(for question: StoreQuestion) -> Int { (2 << 20) + question.keys << 13 }

    /// The most JSON values of such a line: an entry has five at most.
    package static func mostValues(for question: StoreQuestion) -> Int { 4_096 + question.keys * 8 }

    /// Reads a ``line``; nil for anything else.
    ///
    /// - Parameter question: the one that was asked; nil where that is not known.
    package init?(line bytes: [UInt8], to question: StoreQuestion? = nil) {
        let limit = question.map(Self.mostValues) ?? .max
        guard let json = try? JSONValue(bytes, atMost: limit), let result = StoreResult(json) else { return nil }
        let seconds = json["certificate_expires"]?.whole
        self.init(result, certificateExpiresAt: seconds.map { WallTime(secondsSinceEpoch: $0) })
    }
}
