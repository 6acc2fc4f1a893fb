import AppleClientSecret
import CLibcurl
import Glibc
import Linux
import SignIn
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
/// The rules are those of ``HTTPSClient``; also, no proxy is used, and the connection is kept for the next request:
/// a member is asked for hours, and a handshake costs it more than the request.
final class StoreClient {
    private let files: StoreTLSFiles
    private let requests: Transfer
    private let watch: StoreWatch

    /// Nil when libcurl cannot be used.
    init?(files: StoreTLSFiles) {
        guard let requests = Transfer(), let watch = StoreWatch() else { return nil }
        self.files = files
        self.requests = requests
        self.watch = watch
    }

    func send(_ call: StoreSession.Call) -> Result<HTTPAnswer, TransportFailure> {
        do throws(TransportFailure) {
            try prepare(requests, call.endpoint, call.request, token: call.token, timeout: call.timeout)
            return .success(try requests.perform())
        } catch {
            guard error.kind == .connectionLost || error.kind == .failed, error.mayBeSent else {
                return .failure(error)
            }
            do throws(TransportFailure) {
                try prepare(requests, call.endpoint, call.request, token: nil, timeout: StoreSession.connecting)
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
            guard let transfer = Transfer() else { return nil }
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

    /// Ends the watch.
    func endWatch() { watch.end() }

    /// Whether a watch of exactly these keys is open, and reports changes after `revision`.
    func isWatching(_ watchable: StoreSession.Watchable) -> Bool { watch.isAlive(for: watchable) }

    /// Waits until standard input is readable or the watch has notices for the daemon; returns the notices.
    func wait() -> [StoreNotice] { watch.wait() }

    private func prepare(
        _ transfer: Transfer, _ endpoint: String, _ request: EtcdRequest, token: String?, timeout: Int?,
        _ more: [String] = []
    ) throws(TransportFailure) {
        transfer.reset()
        try transfer.prepare(
            url: endpoint + request.path, schemes: Int(CURLPROTO_HTTPS), caFile: files.ca,
            connectTimeout: StoreSession.connecting, timeout: timeout)
        try transfer.set(CURLOPT_NOPROXY, "*")
        try transfer.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        if let certificate = files.certificate, let key = files.key {
            try transfer.set(CURLOPT_SSLCERT, certificate)
            try transfer.set(CURLOPT_SSLKEY, key)
        }
        // A watch has no timeout: with keep-alive probes the kernel notices when the member is gone.
        try transfer.set(CURLOPT_TCP_KEEPALIVE, 1)
        // The size first, because CURLOPT_COPYPOSTFIELDS copies that many bytes.
        try transfer.set(CURLOPT_POSTFIELDSIZE, request.body.count)
        try transfer.set(CURLOPT_COPYPOSTFIELDS, String(decoding: request.body, as: UTF8.self))
        // Without `Expect: 100-continue`, for whose answer libcurl would wait before it sends a body of more than 1 MiB.
        let headers = ["Content-Type: application/json", "Expect:"] + more
        try transfer.set(headers: headers + (token.map { ["Authorization: " + $0] } ?? []))
    }
}

/// One watch, and waiting for it and for standard input at once.
///
/// On one connection in ten, etcd's gateway leaves out some of several create requests in one body (3.4.23). So a watch that
/// is not complete within seconds is begun again over another connection.
@safe private final class StoreWatch {
    private let multi: UnsafeMutableRawPointer
    private var transfer: Transfer?
    private var watched: StoreSession.Watchable?
    /// Makes the request of ``watched``; nil where that is not possible.
    private var connect: () -> Transfer? = { nil }
    private var stream = WatchStream(keys: 0)
    private var lines = LineBuffer()
    /// By when it is to be complete, in milliseconds of the boot clock, and how long that is after its beginning.
    private var completeBy: Int64 = 0
    private var patience = StoreWatch.shortestPatience

    /// In milliseconds: connecting and creating takes some tens.
    private static let shortestPatience: Int64 = 5_000
    private static let longestPatience: Int64 = 60_000
    /// Whether the daemon was notified that all keys are watched.
    private var isWatching = false
    /// The notices that the next wait returns.
    private var notices: [StoreNotice] = []

    init?() {
        guard shim_global_init() == CURLE_OK, let multi = unsafe curl_multi_init() else { return nil }
        unsafe self.multi = unsafe multi
    }

    deinit {
        end()
        unsafe curl_multi_cleanup(multi)
    }

    /// - Parameter connect: makes the request, again for each attempt.
    func begin(_ watchable: StoreSession.Watchable, _ connect: @escaping () -> Transfer?) {
        end()
        patience = Self.shortestPatience
        open(watchable, connect)
    }

    private func open(_ watchable: StoreSession.Watchable, _ connect: @escaping () -> Transfer?) {
        guard let transfer = connect() else { return }
        transfer.receive()
        guard unsafe curl_multi_add_handle(multi, transfer.handle) == CURLM_OK else { return }
        self.transfer = transfer
        self.connect = connect
        watched = watchable
        stream = WatchStream(keys: watchable.keys.count)
        lines = LineBuffer()
        completeBy = Clocks.bootMilliseconds() + patience
    }

    /// For how many milliseconds the watch may still become complete; nil where nothing is waited for.
    private var remainder: Int64? {
        transfer == nil || isWatching ? nil : max(0, completeBy - Clocks.bootMilliseconds())
    }

    func end() {
        if let transfer { unsafe curl_multi_remove_handle(multi, transfer.handle) }
        transfer = nil
        watched = nil
        connect = { nil }
        // The daemon was notified that all keys are watched, and so reads the store seldom: it has to learn that this is over.
        if isWatching { notices.append(.unwatched) }
        isWatching = false
    }

    func isAlive(for watchable: StoreSession.Watchable) -> Bool {
        guard let watched else { return false }
        // A watch from a revision that the store has not reached again, after a backup was restored, would be silent.
        return watched.endpoint == watchable.endpoint && watched.keys == watchable.keys
            && watched.revision <= watchable.revision
    }

    func wait() -> [StoreNotice] {
        while true {
            progress()
            if !notices.isEmpty {
                defer { notices = [] }
                return notices
            }
            var input = curl_waitfd(fd: STDIN_FILENO, events: Int16(CURL_WAIT_POLLIN), revents: 0)
            var count: Int32 = 0
            let limit = Int32(clamping: remainder.map { $0 + 1 } ?? .max)
            guard unsafe curl_multi_poll(multi, &input, 1, limit, &count) == CURLM_OK else { return [] }
            // Events of the watch that have arrived meanwhile are handled by the next wait.
            if input.revents != 0 { return [] }
            if remainder == 0 { beginAgain() }
        }
    }

    private func beginAgain() {
        // What has just arrived may have made it complete.
        progress()
        guard remainder == 0, let watched else { return }
        let connect = connect
        end()
        patience = min(2 * patience, Self.longestPatience)
        open(watched, connect)
    }

    /// Reads what has arrived on the watch.
    private func progress() {
        guard let transfer else { return }
        var running: Int32 = 0
        let code = unsafe curl_multi_perform(multi, &running)
        var states: Set<WatchStream.State> = []
        lines.append(transfer.takeReceived())
        while let line = lines.next() { states.insert(stream.receive(line: line)) }
        if lines.count > WatchStream.longestLine { states.insert(.ended) }
        if stream.isComplete, !isWatching {
            isWatching = true
            notices.append(.watching)
        }
        if states.contains(.changed) { notices.append(.changed) }
        if code != CURLM_OK || running == 0 || states.contains(.ended) {
            end()
        }
    }
}
