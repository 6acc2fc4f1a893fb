import Glibc
import Linux
import TestSupport
import Testing

@testable import Systemd

struct JournalTests {
    private let directory: TemporaryDirectory
    private let receiver: UnixSocket
    private let journal: Journal

    init() throws {
        directory = try TemporaryDirectory()
        receiver = try UnixSocket.receiving(at: directory("socket"))
        journal = try Journal(at: directory("socket"))
    }

    /// The next entry.
    private func received() -> ArraySlice<UInt8> {
        var datagram = [UInt8](repeating: 0, count: 200_000)
        let count = unsafe recv(receiver.descriptor, &datagram, datagram.count, 0)
        return datagram.prefix(max(count, 0))
    }

    @Test func writesFieldsAsJournaldReadsThem() {
        let fields = [("MESSAGE", "one line"), ("ERROR", "two\nlines"), ("ERROR", "")]
        let expected =
            Array("MESSAGE=one line\nERROR\n".utf8) + [9, 0, 0, 0, 0, 0, 0, 0] + Array("two\nlines\nERROR=\n".utf8)
        #expect(Journal.datagram(of: fields) == expected)
    }

    @Test func aFullQueueIsNotWaitedFor() throws {
        #expect(try journal.send([("MESSAGE", "heard")]))
        try UnixSocket.fill(directory("socket"))
        #expect(try !journal.send([("MESSAGE", "not heard")]))
        #expect(received().elementsEqual("MESSAGE=heard\n".utf8))
        #expect(try journal.send([("MESSAGE", "heard again")]))
    }

    @Test func fieldsThatJournaldWouldNotTakeAreLeftOut() throws {
        #expect(try journal.send((0..<2_000).map { ("F", String($0)) }))
        let fields = received().split(separator: UInt8(ascii: "\n"))
        #expect(fields.count == 1_000)
        #expect(fields.last?.elementsEqual("F=999".utf8) == true)
    }

    /// The longest hook's arguments, escaped, in the message and in a field.
    @Test func longValuesAreCutSoThatAnEntryFits() throws {
        let long = String(repeating: "x", count: 400_000)
        #expect(try journal.send([("MESSAGE", long), ("CLIENTSECRETD_ACTION", long), ("PRIORITY", "6")]))
        let lengths = received().split(separator: UInt8(ascii: "\n")).map(\.count)
        #expect(lengths == [8 + Journal.valueLimit, 21 + Journal.valueLimit, 10])
    }

    @Test func reportsThatNoJournalListens() throws {
        let journal = try Journal(at: directory("none"))
        #expect(throws: SystemError.self) { try journal.send([("MESSAGE", "lost")]) }
    }
}
