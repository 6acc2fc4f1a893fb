import Foundation
import Linux
import SystemPackage
import TestSupport
import Testing

@testable import UserWriter

/// The messages between the daemon and a writer, as somebody may send them who means no good.
@Suite struct UserWriterProtocolTests {
    private static let request = """
        {"version":1,"task":"observe","path":"/srv/app/.env","kind":"env","mayCreate":false,\
        "places":[{"variable":"SECRET","client":"web"}]}
        """

    /// What a reader makes of these bytes after which the other side closes.
    private func read(_ bytes: [UInt8]) throws -> Result<WriterRequest, Frame.FrameError> {
        let directory = try TemporaryDirectory()
        let listener = try UnixListener(path: directory("socket"), mode: 0o600)
        func send() throws {
            let client = TimedStream(
                try UnixStream.connect(to: directory("socket"), timeoutSeconds: 60), milliseconds: 60_000)
            try client.write(bytes)
        }
        try send()
        guard let accepted = try listener.accept() else { throw Errno.wouldBlock }
        let stream = TimedStream(UnixStream(adopting: accepted), milliseconds: 60_000)
        do throws(Frame.FrameError) {
            return .success(try Frame.read(WriterRequest.self, from: stream))
        } catch {
            return .failure(error)
        }
    }

    private func frameError(_ bytes: [UInt8]) throws -> Frame.FrameError? {
        if case .failure(let frameError) = try read(bytes) { frameError } else { nil }
    }

    @Test func aWholeMessageIsRead() throws {
        let request = try read(Samples.framed(Self.request)).get()
        #expect(request.path == "/srv/app/.env" && request.places.map(\.variable) == ["SECRET"])
        #expect(request.mode == nil && request.tag == nil)
        // And as it was encoded here.
        let again = try read(Frame.encode(request)).get()
        #expect(again.task == .observe && again.places.map(\.client) == ["web"])
    }

    @Test func aTextCutOffIsNoMessage() throws {
        #expect(try frameError([]) == .nothing)
        let whole = Samples.framed(Self.request)
        for length in 1..<whole.count {
            #expect(try frameError(Array(whole[..<length])) == .truncated, "\(length) bytes")
        }
    }

    @Test func aTextThatIsTooLongIsRefusedBeforeItComes() throws {
        #expect(try frameError([0x00, 0x20, 0x00, 0x01]) == .oversized(2_097_153))
        #expect(try frameError([0xff, 0xff, 0xff, 0xff]) == .oversized(4_294_967_295))
        // As much as may be said, and never is: no memory is set apart for it.
        #expect(try frameError([0x00, 0x20, 0x00, 0x00, 0x7b]) == .truncated)
        let long = String(repeating: "x", count: Frame.limit)
        #expect(throws: Frame.FrameError.oversized(Frame.limit + 2)) { try Frame.encode(long) }
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "0", "\u{0}", "{", "{\"version\":1}", "\"task\"",
        "{\"version\":\"1\",\"task\":\"observe\"}",
        #"{"version":1,"task":"shred","path":"/a","kind":"env","mayCreate":false,"places":[]}"#,
        #"{"version":1,"task":"observe","path":"/a","kind":"env","mode":-1,"mayCreate":false,"places":[]}"#,
        #"{"version":1,"task":"observe","path":"/a","kind":"env","mode":65536,"mayCreate":false,"places":[]}"#,
        #"{"version":1,"task":"observe","path":"/a","kind":"env","mayCreate":false,"places":{}}"#,
        #"{"version":1,"task":"observe","path":["/a"],"kind":"env","mayCreate":false,"places":[]}"#,
        String(repeating: "[", count: 100_000), String(repeating: #"{"places":"#, count: 10_000),
    ])
    func otherTextsAreMalformed(_ text: String) throws {
        #expect(throws: Frame.FrameError.malformed) { try Frame.decode(WriterRequest.self, Array(text.utf8)) }
    }

    @Test func nobodyWaitsForWhoSaysNothing() throws {
        let directory = try TemporaryDirectory()
        let listener = try UnixListener(path: directory("socket"), mode: 0o600)
        let client = try UnixStream.connect(to: directory("socket"), timeoutSeconds: 60)
        guard let accepted = try listener.accept() else { throw Errno.wouldBlock }
        let stream = TimedStream(UnixStream(adopting: accepted), milliseconds: 50)
        #expect(throws: Frame.FrameError.broken(.timedOut)) { try Frame.read(WriterRequest.self, from: stream) }
        let isAbandoned = TimedStream(client, milliseconds: 60_000).isAbandoned
        #expect(!isAbandoned)
    }
}
