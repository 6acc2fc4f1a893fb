package import Failures
import SignIn

/// Why the store was not read, or nothing was put.
package struct StoreFailure: Error, Hashable, Sendable {
    package let code: Code
    /// What etcd or the library for the network said, or which file it is about; on one line, and no password or token.
    package let detail: String?
    /// For how many seconds no request is sent to the store from now on; nil where there is no pause.
    package let retryAfter: Int?

    package enum Code: Hashable, Sendable, CaseIterable {
        /// There is no usable `store` section.
        case unconfigured
        /// A file with a certificate, its key or the password cannot be used.
        case fileUnusable
        /// etcd takes this machine's user or password no more, or wants one that is not configured.
        case credentialsRefused
        /// etcd does not take this machine's client certificate.
        case certificateRefused
        /// No configured authority has signed etcd's certificate for this address, or it has expired.
        case serverUntrusted
        /// The role of this machine's user does not let it write there.
        case forbidden
        /// etcd has reached its quota: it can be read, and takes nothing more.
        case outOfSpace
        case unreachable
        case timedOut
        /// It answers, and cannot serve: it has no leader, or is overloaded.
        case unavailable
        /// What answers there is not etcd's gateway of version 3.
        case answerUnexpected
        /// The secret is too long for the store.
        case secretTooLong

        /// The same among all failures, whose name stands in JSON.
        package var failure: FailureCode {
            switch self {
            case .unconfigured: .storeUnconfigured
            case .fileUnusable: .storeFileUnusable
            case .credentialsRefused: .storeCredentialsRefused
            case .certificateRefused: .storeCertificateRefused
            case .serverUntrusted: .storeServerUntrusted
            case .forbidden: .storeForbidden
            case .outOfSpace: .storeOutOfSpace
            case .unreachable: .storeUnreachable
            case .timedOut: .storeTimedOut
            case .unavailable: .storeUnavailable
            case .answerUnexpected: .storeAnswerUnexpected
            case .secretTooLong: .storeSecretTooLong
            }
        }
    }

    package init(_ code: Code, _ detail: String? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter.map { min(max($0, 0), 86_400) }
    }

    /// The same, and how long to wait.
    func waiting(seconds: Int) -> StoreFailure { StoreFailure(code, detail, retryAfter: seconds) }

    /// The same for what the network could not do.
    init(_ failure: TransportFailure) {
        let code: Code =
            switch failure.kind {
            case .timedOut: .timedOut
            case .certificateRefused: .serverUntrusted
            case .caFileUnusable: .fileUnusable
            case .answerTooLong: .answerUnexpected
            case .tlsFailed, .connectionLost, .failed: Self.isAlert(failure.detail) ? .certificateRefused : .unreachable
            case .nameNotResolved, .notConnected, .proxyFailed: .unreachable
            }
        let detail = failure.kind == .answerTooLong ? "it is longer than 1 MiB" : failure.detail
        self.init(code, detail.isEmpty ? nil : detail)
    }

    /// Whether this text of OpenSSL's reports an alert about our certificate (RFC 8446, section 6.2), which the server
    /// sends. A fault of the server's own certificate is an error of verification instead.
    private static func isAlert(_ detail: String) -> Bool {
        let words = detail.lowercased()
        return words.contains("alert")
            && ["certificate", "unknown ca", "access denied"].contains { words.contains($0) }
    }
}
