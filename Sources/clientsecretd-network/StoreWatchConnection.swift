import AppleClientSecret
import CLibcurl
import Glibc
import Linux
import Store

/// One watch, and waiting for it and for standard input at once.
///
/// On one connection in ten, etcd's gateway leaves out some of several create requests in one body (3.4.23). So a watch that
/// is not complete within seconds is begun again over another connection.
@safe final class StoreWatchConnection {
    private let multi: UnsafeMutableRawPointer
    private var transfer: CurlTransfer?
    private var watched: StoreSession.Watchable?
    /// Makes the request of ``watched``; nil if that is not possible.
    private var connect: () -> CurlTransfer? = { nil }
    private var stream = EtcdWatchResponse(keys: 0)
    private var lines = LineBuffer()
    /// The deadline for its completion, and the time from its beginning to that, in milliseconds.
    private var completeBy = Deadline(in: 0)
    private var timeout = EtcdTimeouts.firstWatch

    /// Whether the daemon was notified that all keys are watched.
    private var isWatching = false
    /// The notices that the next wait returns.
    private var notices: [StoreWatchNotice] = []

    init?() {
        guard shim_global_init() == CURLE_OK, let multi = unsafe curl_multi_init() else { return nil }
        unsafe self.multi = unsafe multi
    }

    deinit {
        end()
        unsafe curl_multi_cleanup(multi)
    }

    /// - Parameter connect: makes the request, again for each attempt.
    func begin(_ watchable: StoreSession.Watchable, _ connect: @escaping () -> CurlTransfer?) {
        end()
        timeout = EtcdTimeouts.firstWatch
        open(watchable, connect)
    }

    private func open(_ watchable: StoreSession.Watchable, _ connect: @escaping () -> CurlTransfer?) {
        guard let transfer = connect() else { return }
        transfer.receive()
        guard unsafe curl_multi_add_handle(multi, transfer.handle) == CURLM_OK else { return }
        self.transfer = transfer
        self.connect = connect
        watched = watchable
        stream = EtcdWatchResponse(keys: watchable.keys.count)
        lines = LineBuffer()
        completeBy = Deadline(in: timeout)
    }

    /// For how many milliseconds the watch may still become complete; nil if nothing is waited for.
    private var remainder: Int64? {
        transfer == nil || isWatching ? nil : completeBy.rest
    }

    /// Ends the watch.
    func end() {
        if let transfer { unsafe curl_multi_remove_handle(multi, transfer.handle) }
        transfer = nil
        watched = nil
        connect = { nil }
        // The daemon was notified that all keys are watched, and so reads the store seldom: it has to learn that this is over.
        if isWatching { notices.append(.unwatched) }
        isWatching = false
    }

    /// Whether a watch of exactly these keys is open, and reports changes after `revision`.
    func isAlive(for watchable: StoreSession.Watchable) -> Bool {
        guard let watched else { return false }
        // A watch from a revision that the store has not reached again, after a backup was restored, would be silent.
        return watched.endpoint == watchable.endpoint && watched.keys == watchable.keys
            && watched.revision <= watchable.revision
    }

    /// Waits until standard input is readable or the watch has notices for the daemon; returns the notices.
    func wait() -> [StoreWatchNotice] {
        while true {
            progress()
            if !notices.isEmpty {
                defer { notices = [] }
                return notices
            }
            var input = curl_waitfd(fd: STDIN_FILENO, events: Int16(CURL_WAIT_POLLIN), revents: 0)
            var count: Int32 = 0
            let limit = Int32(clamping: remainder ?? .max)
            guard unsafe curl_multi_poll(multi, &input, 1, limit, &count) == CURLM_OK else { return [] }
            // Events of the watch that have arrived meanwhile are handled by the next wait.
            if input.revents != 0 { return [] }
            if remainder == 0 { beginAgain() }
        }
    }

    private func beginAgain() {
        // The new bytes may have completed it.
        progress()
        guard remainder == 0, let watched else { return }
        let connect = connect
        end()
        timeout = min(2 * timeout, EtcdTimeouts.longestWatch)
        open(watched, connect)
    }

    /// Reads the bytes that have arrived on the watch.
    private func progress() {
        guard let transfer else { return }
        var running: Int32 = 0
        let code = unsafe curl_multi_perform(multi, &running)
        var states: Set<EtcdWatchResponse.State> = []
        lines.append(transfer.takeReceived())
        while let line = lines.next() { states.insert(stream.receive(line: line)) }
        if lines.count > EtcdWatchResponse.longestLine { states.insert(.ended) }
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
