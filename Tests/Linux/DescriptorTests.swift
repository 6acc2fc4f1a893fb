import Glibc
import Linux
import SystemPackage
import Testing

struct DescriptorTests {
    /// A pipe that is kept open, and /proc/kmsg, never end.
    @Test func readsNoLongerThanUntilItsDeadline() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { try #require(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
        let reading = Descriptor(adopting: ends[0])
        let writing = Descriptor(adopting: ends[1])
        let error = try #require(throws: SystemError.self) {
            try Descriptor.read(reading.raw, until: Deadline(in: 20))
        }
        #expect(error.errno == .timedOut)
        #expect(Descriptor.write([1, 2], to: writing.raw) == nil)
        // What is there already is read after the deadline, too.
        #expect(try Descriptor.read(reading.raw, until: Deadline(in: 0)) == [1, 2])
        _ = consume writing
        // A child of another test may have it for a moment, until it runs its program.
        #expect(try Descriptor.read(reading.raw, until: Deadline(in: 60_000)) == [])
    }
}
