internal import CLibcrypto
internal import Glibc
internal import Linux

/// Bytes in OpenSSL's secure heap, wiped when the value is destroyed. Other code reads single bytes, within bounds that
/// are checked, or gets a pointer for one call.
@safe struct SecureBuffer: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int
    /// How many bytes it holds.
    private(set) var count = 0

    /// An empty buffer for `capacity` bytes; nil when the secure heap has no room for them.
    init?(capacity: Int) {
        PrivateKeyHeap.start()
        guard capacity > 0, let memory = unsafe shim_secure_zalloc(capacity) else { return nil }
        unsafe self.memory = unsafe memory
        self.capacity = capacity
    }

    deinit {
        unsafe shim_secure_clear_free(memory, capacity)
    }

    subscript(index: Int) -> UInt8 {
        precondition((0..<count).contains(index))
        return unsafe memory.load(fromByteOffset: index, as: UInt8.self)
    }

    /// How many bytes still fit.
    var room: Int { capacity - count }

    /// Appends a byte, for which there must be room.
    mutating func append(_ byte: UInt8) {
        precondition(room > 0)
        unsafe memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    /// Wipes the bytes from `newCount` on.
    mutating func truncate(to newCount: Int) {
        precondition((0...count).contains(newCount))
        unsafe _ = memset(memory + newCount, 0, count - newCount)
        count = newCount
    }

    /// In milliseconds, until a pipe must be read to its end.
    private static let timeout: Int64 = 60_000

    /// Removes the first bytes, and wipes as many at the end.
    mutating func dropFirst(_ removed: Int) {
        precondition((0...count).contains(removed))
        unsafe _ = memmove(memory, memory + removed, count - removed)
        truncate(to: count - removed)
    }

    /// Reads from the descriptor's position until the buffer is full or the end is reached.
    ///
    /// - Parameter waits: whether more may come later, as from a pipe whose writer is still at work. A file, such as
    ///   /proc/kmsg, is not waited for.
    /// - Returns: nil when that went well, else the errno value of the read that failed.
    mutating func fill(from descriptor: Int32, waits: Bool) -> Int32? {
        let deadline = Deadline(in: Self.timeout)
        while room > 0 {
            let got = unsafe read(descriptor, memory + count, room)
            if got == 0 { return nil }
            if got < 0 {
                if errno == EINTR { continue }
                guard errno == EAGAIN, waits else { return errno }
                guard !deadline.hasPassed, Descriptor.ready([descriptor], atMost: deadline.rest) == [true] else {
                    return ETIMEDOUT
                }
                continue
            }
            count += got
        }
        return nil
    }

    /// Calls `body` with the bytes of `range`; the pointer is valid in that call only.
    func withUnsafeBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe body(UnsafeRawBufferPointer(start: memory + range.lowerBound, count: range.count))
    }

    /// Lets `body` write to the whole capacity; it returns the new ``count``, or nil to leave that unchanged.
    ///
    /// - Returns: whether `body` returned a number.
    mutating func overwrite(_ body: (UnsafeMutableRawBufferPointer) -> Int?) -> Bool {
        guard let written = unsafe body(UnsafeMutableRawBufferPointer(start: memory, count: capacity)) else {
            return false
        }
        precondition((0...capacity).contains(written))
        count = written
        return true
    }
}
