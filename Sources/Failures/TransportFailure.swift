internal import AppleClientSecret

/// Why there is no answer.
package struct TransportFailure: Error, Hashable, Sendable {
    package let kind: Kind
    /// The message of the library for the network, on one line.
    package let detail: String
    /// Whether the server may have got the request, wholly or in part.
    package let mayBeSent: Bool

    /// Raw values are used in JSON.
    package enum Kind: String, JSONString, Hashable, Sendable, CaseIterable {
        case nameNotResolved = "name_not_resolved"
        case notConnected = "not_connected"
        case timedOut = "timed_out"
        case certificateRefused = "certificate_refused"
        case tlsFailed = "tls_failed"
        /// The server refuses this machine's certificate, or wants one.
        case ownCertificateRefused = "own_certificate_refused"
        case proxyFailed = "proxy_failed"
        case connectionLost = "connection_lost"
        /// The server was reached. Its answer is damaged, cut off or missing.
        case answerBroken = "answer_broken"
        case answerTooLong = "answer_too_long"
        /// The answer is not one of HTTP/1.1, but of HTTP/0.9, HTTP/2 or another protocol.
        case notHTTP = "not_http"
        case caFileUnusable = "ca_file_unusable"
        /// Anything else, as ``TransportFailure/detail`` tells.
        case failed
    }

    /// A role's report about it, next to a code: a code does not show that an answer was too long.
    package var report: String {
        kind == .answerTooLong ? "it is longer than 1 MiB, or its header than 64 KiB" : detail
    }

    package init(_ kind: Kind, _ detail: String, mayBeSent: Bool = true) {
        self.kind = kind.told(by: detail)
        self.detail = detail
        self.mayBeSent = mayBeSent
    }
}

extension TransportFailure.Kind {
    /// The code of such a failure of the role that pushes, and of the one that asks the store.
    package var codes: (push: FailureCode, store: FailureCode) {
        switch self {
        case .nameNotResolved, .notConnected, .proxyFailed, .connectionLost, .failed:
            (.pushUnreachable, .storeUnreachable)
        case .timedOut: (.pushTimedOut, .storeTimedOut)
        case .certificateRefused: (.pushCertificateRefused, .storeServerUntrusted)
        case .tlsFailed: (.pushTLSFailed, .storeTLSFailed)
        case .ownCertificateRefused: (.pushTLSFailed, .storeCertificateRefused)
        case .caFileUnusable: (.pushFileUnusable, .storeFileUnusable)
        case .answerBroken, .answerTooLong, .notHTTP: (.pushAnswerUnexpected, .storeAnswerUnexpected)
        }
    }

    /// The same, or the alert that OpenSSL's text reports (RFC 8446, section 6). The server may send it after the handshake, so
    /// the library calls it a lost connection. A problem with the server's own certificate is an error of verification instead.
    fileprivate func told(by detail: String) -> Self {
        guard [.tlsFailed, .connectionLost, .failed].contains(self) else { return self }
        let words = detail.lowercased()
        guard words.contains("alert") else { return self }
        return ["certificate", "unknown ca", "access denied"].contains { words.contains($0) }
            ? .ownCertificateRefused : .tlsFailed
    }
}
