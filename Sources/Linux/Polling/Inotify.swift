import CLinux
import Glibc
import SystemPackage

/// inotify events for files and directories. An event is only a reason to read the state again.
package final class Inotify: Sendable {
    private let descriptor: Descriptor

    package struct Mask: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        // inotify's numbers; CLinux asserts them.
        package static let modified = Mask(rawValue: 0x2)
        /// Mode, owner, times, link count, attributes.
        package static let attributesChanged = Mask(rawValue: 0x4)
        package static let closedAfterWrite = Mask(rawValue: 0x8)
        package static let movedFrom = Mask(rawValue: 0x40)
        package static let movedTo = Mask(rawValue: 0x80)
        package static let created = Mask(rawValue: 0x100)
        package static let deleted = Mask(rawValue: 0x200)
        package static let deletedSelf = Mask(rawValue: 0x400)
        package static let movedSelf = Mask(rawValue: 0x800)

        /// Output only: the file system was unmounted; the watch is gone.
        package static let unmounted = Mask(rawValue: 0x2000)
        /// Output only: events were lost. Read all again.
        package static let overflowed = Mask(rawValue: 0x4000)
        /// Output only: the watch is gone, removed by us or with its file. Its number may be reused.
        package static let ignored = Mask(rawValue: 0x8000)
        /// Output only: the event is about a directory.
        package static let isDirectory = Mask(rawValue: 0x4000_0000)

        /// Input only: refuse to watch anything but a directory.
        package static let onlyDirectory = Mask(rawValue: 0x100_0000)
        /// Input only: add to the mask instead of replacing it.
        package static let added = Mask(rawValue: 0x2000_0000)
        /// Input only: no events for files that have lost their name in the directory.
        package static let excludeUnlinked = Mask(rawValue: 0x400_0000)
    }

    package struct Event: Hashable, Sendable {
        /// The result of ``watch(_:for:)``; -1 for an overflow.
        package let watch: Int32
        package let mask: Mask
        /// The name in the watched directory; empty for the watched file itself. Invalid UTF-8 is repaired.
        package let name: String
    }

    /// The descriptor to wait for.
    package var raw: Int32 { descriptor.raw }

    package init() throws(SystemError) {
        descriptor = Descriptor(adopting: try SystemError.check(clinux_inotify_create(), "ask for notices"))
    }

    /// Watches a file or directory. Watching the same one again replaces its mask and returns the same number.
    ///
    /// Throws `.noSpace` when the user's watches are used up (`fs.inotify.max_user_watches`).
    package func watch(_ path: String, for mask: Mask) throws(SystemError) -> Int32 {
        try SystemError.check(unsafe clinux_inotify_watch(descriptor.raw, path, mask.rawValue), "watch \(path)")
    }

    /// Stops watching. Events already queued are still delivered, ``Mask/ignored`` last.
    package func unwatch(_ watch: Int32) {
        // Fails only when the watch is gone already.
        _ = clinux_inotify_unwatch(descriptor.raw, watch)
    }

    /// The queued events in order, possibly none. Events that arrive meanwhile are left to the next call, so that a
    /// flood of them cannot keep this one busy.
    package func read() throws(SystemError) -> [Event] {
        let waiting = Int(try SystemError.check(clinux_inotify_waiting(descriptor.raw), "read notices"))
        guard waiting > 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: waiting)
        var count: Int
        repeat {
            count = unsafe Glibc.read(descriptor.raw, &buffer, waiting)
        } while count < 0 && errno == EINTR
        if count < 0 { throw SystemError("read notices", errno: Errno(rawValue: errno)) }
        return Inotify.events(in: buffer[..<count])
    }

    /// Each event is watch, mask, cookie and the name's length, four bytes each, and the name padded with zeros.
    private static func events(in bytes: ArraySlice<UInt8>) -> [Event] {
        unsafe bytes.withUnsafeBytes { bytes in
            var events: [Event] = []
            var offset = 0
            while offset + 16 <= bytes.count {
                let watch = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)
                let mask = unsafe bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                let length = unsafe Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                let name = unsafe bytes[(offset + 16)..<min(offset + 16 + length, bytes.count)]
                let end = unsafe name.firstIndex(of: 0) ?? name.endIndex
                events.append(
                    Event(
                        watch: watch, mask: Mask(rawValue: mask),
                        name: unsafe String(decoding: name[..<end], as: UTF8.self)))
                offset += 16 + length
            }
            return events
        }
    }
}
