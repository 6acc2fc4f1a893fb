import Foundation
import Linux
import SystemPackage
import TestSupport
import Testing

/// That a descriptor goes along is seen in `System/bed/credentials.sh`.
@Suite struct UnixDatagramTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory("reader")
    }

    /// The next datagram.
    private func receive(at reader: UnixSocket) -> String {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = unsafe recv(reader.descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    @Test(arguments: ["a path", "an abstract address"]) func sendsTo(kind: String) throws {
        let address = kind == "a path" ? path : "@" + path
        let reader = try UnixSocket.receiving(at: address)
        let sender = try UnixDatagram()
        #expect(try sender.send(Array("hello".utf8), to: address))
        #expect(receive(at: reader) == "hello")
    }

    @Test func aFullQueueIsReportedAndThenThatThereIsRoom() throws {
        var reader: UnixSocket? = try UnixSocket.receiving(at: path)
        try UnixSocket.fill(path)
        let sender = try UnixDatagram()
        let beat = try EventCounter()
        let epoll = try Epoll()
        try epoll.add(sender.descriptor.raw, tag: 1, for: .once)
        try epoll.add(beat.raw, tag: 2)
        beat.signal()
        #expect(try !sender.send([1], to: path))
        try epoll.modify(sender.descriptor.raw, tag: 1, for: [.writable, .once])
        #expect(try epoll.wait().map(\.tag) == [2])
        #expect(receive(at: try #require(reader)) == UnixSocket.filler)
        #expect(Set(try epoll.wait().map(\.tag)) == [1, 2])
        // `once` reports it a single time.
        #expect(try epoll.wait().map(\.tag) == [2])
        #expect(try sender.send([1], to: path))
        // When the reader of a full queue goes, that is reported as well: the next try shows it.
        #expect(try !sender.send([1], to: path))
        try epoll.modify(sender.descriptor.raw, tag: 1, for: [.writable, .once])
        #expect(try epoll.wait().map(\.tag) == [2])
        reader = nil
        #expect(Set(try epoll.wait().map(\.tag)) == [1, 2])
    }

    @Test func theReaderOfTheMomentIsSentTo() throws {
        let first = try UnixSocket.receiving(at: path)
        let sender = try UnixDatagram()
        #expect(try sender.send([1], to: path))
        try UnixSocket.fill(path)
        #expect(try !sender.send([1], to: path))
        try FileManager.default.removeItem(atPath: path)
        let gone = #expect(throws: SystemError.self) { try sender.send([1], to: path) }
        #expect(gone?.errno == .noSuchFileOrDirectory)
        let second = try UnixSocket.receiving(at: path)
        #expect(try sender.send(Array("again".utf8), to: path))
        #expect(receive(at: second) == "again")
        _ = first
    }

    @Test func throwsForAnAddressThatNoProcessReads() throws {
        let sender = try UnixDatagram()
        let longest = "/" + String(repeating: "x", count: 106)
        for (address, errno) in [
            ("relative", Errno.addressFamilyNotSupported), ("vsock:2:1234", .addressFamilyNotSupported),
            ("", .addressFamilyNotSupported), (longest, .noSuchFileOrDirectory), (longest + "x", .fileNameTooLong),
            ("@" + longest, .connectionRefused), ("@" + longest + "x", .fileNameTooLong),
        ] {
            let error = #expect(throws: SystemError.self) { try sender.send([1], to: address) }
            #expect(error?.errno == errno, "\(address)")
        }
    }
}
