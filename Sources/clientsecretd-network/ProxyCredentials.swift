import AppleAPI
import Failures
import Glibc

/// Users and passwords of the proxies that the environment names: libcurl quotes an address that it cannot use.
enum ProxyCredentials {
    static let hidden = EchoedSecrets(texts)

    /// The variables that libcurl reads.
    private static let variables = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"]

    private static var texts: [String] {
        variables.flatMap { name -> [String] in
            guard let address = unsafe getenv(name).map({ unsafe String(cString: $0) }),
                let at = address.lastIndex(of: "@")
            else { return [] }
            let credentials = address[..<at].split(separator: "/", omittingEmptySubsequences: true).last ?? ""
            let parts =
                [address[..<at], credentials]
                + credentials.split(separator: ":", maxSplits: 1)
            return parts.flatMap { part in [String(part)] + (FormEncoding.decode("a=\(part)")?.values.map { $0 } ?? [])
            }
        }
    }
}
