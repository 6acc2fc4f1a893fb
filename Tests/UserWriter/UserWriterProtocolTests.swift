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
    private func read(_ bytes: [UInt8]) throws -> Result<WriterRequest, SystemError> {
        let directory = try TemporaryDirectory()
        let listener = try ListeningSocket(path: directory("socket"), mode: 0o600)
        func connected() throws -> Int32 {
            let stream = try UnixStream(
                connectingTo: directory("socket"), timeoutSeconds: 60, milliseconds: 60_000)
            let copy = dup(stream.raw)
            _ = consume stream
            return copy
        }
        let client = try connected()
        guard let accepted = try listener.accept() else { throw Errno.wouldBlock }
        // More than a socket takes at once is sent while it is read.
        Thread.detachNewThread {
            try? UnixStream(adopting: Descriptor(adopting: client), milliseconds: 60_000).write(bytes)
        }
        var stream = UnixStream(adopting: accepted, milliseconds: 60_000)
        do throws(SystemError) {
            return .success(try WriterMessage.read(WriterRequest.self, from: &stream))
        } catch {
            return .failure(error)
        }
    }

    private func errno(_ bytes: [UInt8]) throws -> Errno? {
        if case .failure(let error) = try read(bytes) { error.errno } else { nil }
    }

    @Test func aWholeMessageIsRead() throws {
        let request = try read(Samples.line(Self.request)).get()
        #expect(request.path == "/srv/app/.env" && request.places.map(\.variable) == ["SECRET"])
        #expect(request.mode == nil && request.tag == nil)
        // And as it was encoded here.
        let again = try read(WriterMessage.line(of: request)).get()
        #expect(again.task == .observe && again.places.map(\.client) == ["web"])
    }

    @Test func aTextCutOffIsNoMessage() throws {
        #expect(try errno([]) == .connectionReset)
        let whole = Array(Self.request.utf8)
        for length in 1..<whole.count {
            #expect(try errno(Array(whole[..<length])) == .badMessage, "\(length) bytes")
        }
    }

    @Test func aTextThatIsTooLongIsRefusedBeforeItsEnd() throws {
        #expect(try errno([UInt8](repeating: 0x20, count: WriterMessage.longest + 1)) == .messageTooLong)
        #expect(try errno([UInt8](repeating: 0x20, count: WriterMessage.longest)) == .badMessage)
    }

    @Test(arguments: [
        "{}", "[]", "null", "0", "\u{0}", "{", "{\"version\":1}", "\"task\"",
        "{\"version\":\"1\",\"task\":\"observe\"}",
        #"{"version":1,"task":"shred","path":"/a","kind":"env","mayCreate":false,"places":[]}"#,
        #"{"version":1,"task":"observe","path":"/a","kind":"env","mode":-1,"mayCreate":false,"places":[]}"#,
        #"{"version":1,"task":"observe","path":"/a","kind":"env","mode":65536,"mayCreate":false,"places":[]}"#,
        #"{"version":1,"task":"observe","path":"/a","kind":"env","mayCreate":false,"places":{}}"#,
        #"{"version":1,"task":"observe","path":["/a"],"kind":"env","mayCreate":false,"places":[]}"#,
        String(repeating: "[", count: 100_000), String(repeating: #"{"places":"#, count: 10_000),
    ])
    func otherTextsAreMalformed(_ text: String) throws {
        #expect(try errno(Samples.line(text)) == .badMessage)
    }

    @Test func aSilentPeerIsNotWaitedFor() throws {
        let directory = try TemporaryDirectory()
        let listener = try ListeningSocket(path: directory("socket"), mode: 0o600)
        let client = try UnixStream(connectingTo: directory("socket"), timeoutSeconds: 60, milliseconds: 60_000)
        guard let accepted = try listener.accept() else { throw Errno.wouldBlock }
        var stream = UnixStream(adopting: accepted, milliseconds: 50)
        var errno: Errno?
        do throws(SystemError) { _ = try WriterMessage.read(WriterRequest.self, from: &stream) } catch {
            errno = error.errno
        }
        #expect(errno == .timedOut)
        let isAbandoned = client.isAbandoned
        #expect(!isAbandoned)
    }
}
