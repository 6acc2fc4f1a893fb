package import Failures

extension TransportFailure {
    /// The problem and the remedy, as a sentence without its end.
    ///
    /// - Parameter quoted: quotes the library's message, which may contain words that a server chose.
    package func words(_ quoted: (String) -> String) -> String {
        let more = detail.isEmpty ? "" : " (\(quoted(detail)))"
        return switch kind {
        case .nameNotResolved: "the server's name cannot be resolved\(more); check this machine's network"
        case .notConnected: "the server cannot be reached\(more); check the firewall and whether a proxy is needed"
        case .timedOut: "the server did not answer in time\(more)"
        case .certificateRefused:
            "the server's certificate is not trusted\(more); check this machine's clock and its ca-certificates, and "
                + "whether a proxy in between answers with its own certificate"
        case .tlsFailed: "the encrypted connection failed\(more)"
        case .ownCertificateRefused:
            "the server demands a certificate of this machine or refuses it\(more); check that the address is Apple's, and "
                + "whether a proxy is in between"
        case .proxyFailed: "the proxy did not connect\(more); check https_proxy in the environment"
        case .connectionLost: "the connection ended before the answer did\(more)"
        case .answerBroken: "the server's answer is damaged, cut off or missing\(more)"
        case .answerTooLong: "the answer is longer than any of Apple's\(more)"
        case .notHTTP: "the server's answer is not HTTP/1.1\(more); check its address and port"
        case .caFileUnusable:
            "the file with the certificates cannot be used\(more); name one with PEM certificates in it, which begin with "
                + "BEGIN CERTIFICATE"
        case .failed: "the request failed\(more)"
        }
    }
}
