import Failures

extension RoleFailure {
    /// The same for what the network could not do.
    init(_ failure: TransportFailure) {
        let code: FailureCode =
            switch failure.kind {
            case .timedOut: .storeTimedOut
            case .certificateRefused: .storeServerUntrusted
            case .caFileUnusable: .storeFileUnusable
            case .answerTooLong, .notHTTP: .storeAnswerUnexpected
            case .tlsFailed, .connectionLost, .failed:
                Self.isAlert(failure.detail) ? .storeCertificateRefused : .storeUnreachable
            case .nameNotResolved, .notConnected, .proxyFailed: .storeUnreachable
            }
        self.init(code, failure.report.isEmpty ? nil : failure.report)
    }

    /// Whether this text of OpenSSL's reports an alert about our certificate (RFC 8446, section 6.2), which the server
    /// sends. A fault of the server's own certificate is an error of verification instead.
    private static func isAlert(_ detail: String) -> Bool {
        let words = detail.lowercased()
        return words.contains("alert")
            && ["certificate", "unknown ca", "access denied"].contains { words.contains($0) }
    }
}
