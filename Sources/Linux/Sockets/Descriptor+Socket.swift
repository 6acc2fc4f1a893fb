import CLinux
import Glibc
import SystemPackage

extension Descriptor {
    /// A connection to the Unix socket at this path. Throws `.noSuchFileOrDirectory` or `.connectionRefused` where nothing
    /// listens, and `.wouldBlock` after the timeout.
    static func connect(to path: String, timeoutSeconds: Int64) throws(SystemError) -> Descriptor {
        Descriptor(
            adopting: try SystemError.check(
                unsafe clinux_unix_connect(path, max(timeoutSeconds, 1)), "connect to \(path)"))
    }

    /// Sends all bytes.
    ///
    /// Throws `.timedOut`, `.canceled`, and `.brokenPipe` when nothing reads.
    ///
    /// - Parameters:
    ///   - rest: for how many more milliseconds it may wait.
    ///   - cancel: ends it earlier when raised.
    func send(_ bytes: [UInt8], waiting rest: () -> Int64, cancel: EventCounter?) throws(SystemError) {
        var unsent = bytes[...]
        while !unsent.isEmpty {
            let count = unsafe unsent.withUnsafeBytes { bytes in
                unsafe Glibc.send(raw, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                unsent = unsent.dropFirst(count)
            } else if errno == EAGAIN || errno == EINTR {
                try wait("write to a socket", writing: true, atMost: rest(), cancel: cancel)
            } else {
                throw SystemError("write to a socket", errno: Errno(rawValue: errno))
            }
        }
    }

    /// What has arrived, `count` bytes at most; empty once the peer has closed its end, nil where nothing has arrived.
    func received(upTo count: Int) throws(SystemError) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        let taken = unsafe recv(raw, &buffer, count, Int32(MSG_DONTWAIT))
        if taken >= 0 { return Array(buffer[..<taken]) }
        guard errno == EAGAIN || errno == EINTR else {
            throw SystemError("read from a socket", errno: Errno(rawValue: errno))
        }
        return nil
    }

    /// Waits until the socket can be read, or written to. Throws `.timedOut` and `.canceled`.
    func wait(_ operation: String, writing: Bool, atMost rest: Int64, cancel: EventCounter?) throws(SystemError) {
        let ready = Self.ready([raw, cancel?.raw ?? -1], writing: writing, atMost: rest)
        if ready[1] { throw SystemError(operation, errno: .canceled) }
        if !ready[0] { throw SystemError(operation, errno: .timedOut) }
    }

    /// Sends what the socket accepts without blocking. Returns the byte count, 0 if none now.
    ///
    /// Throws `.brokenPipe` or `.connectionReset` when the peer has gone.
    package func sendNow(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        while true {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.send(raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            // A momentary lack of memory is a reason to wait as well.
            case EAGAIN, ENOBUFS, ENOMEM: return 0
            default: throw SystemError("write to a socket", errno: Errno(rawValue: errno))
            }
        }
    }

    /// Ends a connection for all holders of a descriptor of it; the peer still reads what was sent.
    package func shutDown() {
        // Fails only when the peer has ended it already.
        _ = shutdown(raw, Int32(SHUT_RDWR))
    }

    /// Marks a Unix socket, for whichever process holds it next. The kernel keeps this option for every socket, and a Unix
    /// socket does nothing with it.
    package func mark() {
        var isOn: Int32 = 1
        // Fails for no open socket.
        _ = unsafe setsockopt(raw, SOL_SOCKET, SO_KEEPALIVE, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether a Unix socket was marked.
    package var isMarked: Bool {
        var isOn: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(raw, SOL_SOCKET, SO_KEEPALIVE, &isOn, &size) == 0 && isOn != 0
    }

    /// Keeps accepting on a listening socket from blocking, wherever it was made.
    package func setNonBlocking() throws(SystemError) {
        let flags = fcntl(raw, F_GETFL)
        guard flags >= 0, fcntl(raw, F_SETFL, flags | O_NONBLOCK) >= 0 else {
            throw SystemError("have a socket not wait", errno: Errno(rawValue: errno))
        }
    }
}
