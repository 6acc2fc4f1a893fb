import Glibc

extension Descriptor {
    /// Waits until one of these descriptors can be read or has been hung up, or until the time is over; returns which are so. One
    /// of -1 never is.
    ///
    /// - Parameters:
    ///   - writing: waits for the first one to be written to instead.
    ///   - milliseconds: as for ``Deadline``; nil: there is no end.
    package static func ready(
        _ descriptors: [Int32], writing: Bool = false, atMost milliseconds: Int64?
    ) -> [Bool] {
        var watched = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if writing { watched[0].events = Int16(POLLOUT) }
        let deadline = milliseconds.map { Deadline(in: $0) }
        while true {
            let rest = deadline.map { Int32(clamping: $0.rest) } ?? -1
            let found = unsafe poll(&watched, nfds_t(watched.count), rest)
            // A wait longer than poll takes is taken up again.
            if found > 0 || found == 0 && rest < .max || found < 0 && errno != EINTR {
                return watched.map { found > 0 && $0.revents != 0 }
            }
        }
    }

    /// Waits, at most `milliseconds`; returns whether the descriptor, such as standard error, takes more.
    package static func waitUntilWritable(_ raw: Int32, atMost milliseconds: Int64) -> Bool {
        ready([raw], writing: true, atMost: milliseconds) == [true]
    }
}
