import AppleClientSecret
import CLibcurl
import Failures
import Glibc
import Linux
import Store

/// The PEM files for TLS connections to the store's members.
struct StoreTLSFiles {
    /// A PEM file with the authorities that are trusted; nil for the machine's.
    let ca: String?
    /// PEM files; nil for no client certificate.
    let certificate: String?
    let key: String?
}

/// Requests to the members of one store, over mutual TLS, and one watch next to them.
///
/// The rules are those of ``CurlTransfer``. In addition, no proxy is used, and the connection is kept for the next request. A
/// member serves requests for hours, and a handshake costs it more than the request.
final class StoreClient {
    private let files: StoreTLSFiles
    private let requests: CurlTransfer
    let watch: StoreWatchConnection

    /// Nil when libcurl cannot be used.
    init?(files: StoreTLSFiles) {
        guard let requests = CurlTransfer(), let watch = StoreWatchConnection() else { return nil }
        self.files = files
        self.requests = requests
        self.watch = watch
    }

    func send(_ call: StoreSession.Call) -> Result<HTTPAnswer, TransportFailure> {
        do throws(TransportFailure) {
            try prepare(requests, call.endpoint, call.request, token: call.token, timeout: call.timeout)
            return .success(try requests.perform())
        } catch {
            guard [.connectionLost, .answerBroken, .failed].contains(error.kind), error.mayBeSent else {
                return .failure(error)
            }
            do throws(TransportFailure) {
                try prepare(requests, call.endpoint, call.request, token: nil, timeout: EtcdTimeouts.connection)
            } catch {
                return .failure(error)
            }
            let refusal = requests.refusal()
            requests.reset()
            return .failure(refusal.map { TransportFailure($0.kind, $0.detail, mayBeSent: true) } ?? error)
        }
    }

    /// Replaces the watch by this one.
    func begin(_ watchable: StoreSession.Watchable) {
        watch.begin(watchable) { [self] in
            guard let transfer = CurlTransfer() else { return nil }
            do throws(TransportFailure) {
                // Has a member that loses its leader end the stream, instead of keeping it open without events.
                try prepare(
                    transfer, watchable.endpoint, watchable.request, token: watchable.token, timeout: nil,
                    ["Grpc-Metadata-hasleader: true"])
            } catch {
                // Ignored: without a watch the store is read each minute.
                return nil
            }
            return transfer
        }
    }

    private func prepare(
        _ transfer: CurlTransfer, _ endpoint: String, _ request: EtcdRequest, token: String?, timeout: Int?,
        _ more: [String] = []
    ) throws(TransportFailure) {
        transfer.reset()
        try transfer.prepare(
            url: endpoint + request.path, schemes: Int(CURLPROTO_HTTPS), caFile: files.ca,
            connectTimeout: EtcdTimeouts.connection, timeout: timeout)
        try transfer.set(CURLOPT_NOPROXY, "*")
        try transfer.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        if let certificate = files.certificate, let key = files.key {
            try transfer.set(CURLOPT_SSLCERT, certificate)
            try transfer.set(CURLOPT_SSLKEY, key)
        }
        // A watch has no timeout: with keep-alive probes the kernel notices when the member is gone.
        try transfer.set(CURLOPT_TCP_KEEPALIVE, 1)
        try transfer.set(body: request.body)
        // Without `Expect: 100-continue`, because libcurl would wait for its answer before it sends a body of more than 1 MiB.
        let headers = ["Content-Type: application/json", "Expect:"] + more
        try transfer.set(headers: headers + (token.map { ["Authorization: " + $0] } ?? []))
    }
}
