import CLinux
import Glibc
import SystemPackage

extension Descriptor {
    /// Sends the bytes that the socket accepts without blocking. Returns the byte count, 0 if none now.
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
            // If memory runs out for a moment, waiting helps, too.
            case EAGAIN, ENOBUFS, ENOMEM: return 0
            default: throw SystemError("write to a socket", errno: Errno(rawValue: errno))
            }
        }
    }

    /// Ends a connection for all holders of a descriptor of it; the peer can still read everything that was sent.
    package func shutDown() {
        // Fails only when the peer has ended it already.
        _ = shutdown(raw, Int32(SHUT_RDWR))
    }

    /// Marks a Unix socket, so that the process that holds it next can recognise it. The kernel keeps this option for every
    /// socket, and a Unix socket does nothing with it.
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

    /// Keeps accepting on a listening socket from blocking, even if another process created it.
    package func setNonBlocking() throws(SystemError) {
        let flags = fcntl(raw, F_GETFL)
        guard flags >= 0, fcntl(raw, F_SETFL, flags | O_NONBLOCK) >= 0 else {
            throw SystemError("have a socket not wait", errno: Errno(rawValue: errno))
        }
    }
}
