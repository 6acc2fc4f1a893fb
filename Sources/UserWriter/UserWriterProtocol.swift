import AppleClientSecret
import Failures
import FoundationEssentials
import Linux
import Model
import Outputs
import SystemPackage

/// One message on the socket: its length in four bytes, big-endian, and that many bytes of JSON.
enum Frame {
    /// The largest message, in bytes: twice what a file may hold (1 MiB), which has room for every token of the largest
    /// file and the names of their slots.
    static let limit = 2 << 20
    static let headerLength = 4

    /// Why a message could not be read.
    enum Flaw: Error, Hashable, Sendable {
        /// The other side closed without sending anything.
        case nothing
        case truncated
        /// In bytes.
        case oversized(Int)
        case malformed
        /// The socket failed: `.timedOut`, `.canceled`, `.connectionReset`…
        case broken(Errno)
    }

    static func encode(_ message: some Encodable) throws(Flaw) -> [UInt8] {
        guard let body = try? JSONEncoder().encode(message) else { throw .malformed }
        guard body.count <= limit else { throw .oversized(body.count) }
        return (0..<headerLength).reversed().map { UInt8(truncatingIfNeeded: body.count >> ($0 * 8)) } + body
    }

    static func read<Message: Decodable>(
        _ type: Message.Type, from stream: borrowing TimedStream
    ) throws(Flaw) -> Message {
        let header = try take(headerLength, from: stream)
        guard !header.isEmpty else { throw .nothing }
        let length = try bodyLength(header)
        let body = try take(length, from: stream)
        guard body.count == length else { throw .truncated }
        return try decode(type, body)
    }

    /// How many bytes follow this header.
    static func bodyLength(_ header: [UInt8]) throws(Flaw) -> Int {
        guard header.count == headerLength else { throw .truncated }
        let length = header.reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else { throw .oversized(length) }
        return length
    }

    static func decode<Message: Decodable>(_ type: Message.Type, _ body: [UInt8]) throws(Flaw) -> Message {
        guard let message = try? JSONDecoder().decode(type, from: Data(body)) else { throw .malformed }
        return message
    }

    private static func take(_ count: Int, from stream: borrowing TimedStream) throws(Flaw) -> [UInt8] {
        do {
            return try stream.read(exactly: count)
        } catch {
            throw .broken(error.errno)
        }
    }
}

/// A request of the daemon to a writer. A connection carries one request and one answer.
struct WriterRequest: Codable, Sendable {
    /// A writer and a daemon of different versions may meet for as long as the older one still runs.
    static let currentVersion = 1

    enum Task: String, Codable, Sendable {
        // A name in a message between two processes: never rename it.
        case observe
        /// Find out what would keep the file from being written; nothing is touched.
        case examine
        case publish
    }

    /// One place in the file, whose it is and, to be published, what it is to hold.
    struct Place: Codable, Sendable {
        var variable: String?
        var client: String
        var token: WireToken?
    }

    var version = Self.currentVersion
    var task: Task
    var path: String
    var kind: String
    var mode: UInt16?
    var group: String?
    var places: [Place]
    var mayCreate = false
    /// The tag of the daemon's temporaries (``Linux/TemporaryNames``); nil: nothing is to be touched.
    var tag: String?

    init(_ task: Task, _ spec: FileSpec, secrets: [Slot: Token] = [:]) {
        self.task = task
        path = spec.path.description
        kind = spec.format.name
        mode = spec.mode
        group = spec.group
        places = spec.slots.map { slot, client in
            Place(
                variable: slot.variable, client: client.description, token: secrets[slot].map { WireToken($0) })
        }
    }
}

extension Slot {
    var variable: String? {
        if case .variable(let name) = self { name } else { nil }
    }

    init(variable: String?) {
        self = variable.map { .variable($0) } ?? .whole
    }
}

/// A writer's answer: what the file held, or why that is not known.
struct WriterAnswer: Codable, Sendable {
    struct Place: Codable, Sendable {
        var variable: String?
        /// Nil: something that cannot be a token.
        var token: WireToken?
    }

    struct Contents: Codable, Sendable {
        var exists: Bool
        var otherLines: Bool
        var isAsConfigured: Bool
        /// Places that hold nothing are left out.
        var places: [Place]
        /// Which directory the file really lies in, so that the daemon knows whether it would notice a change there.
        var directory: DirectoryMark?
    }

    struct Fault: Codable, Sendable {
        var code: String
        var cause: Int32?
        var detail: String?
    }

    var version = WriterRequest.currentVersion
    var fault: Fault?
    var contents: Contents?

    /// Names in a message between two processes, of which an upgrade replaces one first: never rename one.
    private enum CodingKeys: String, CodingKey {
        case version, fault, contents
    }

    init(_ failure: Failure) {
        fault = Fault(code: failure.code.rawValue, cause: failure.cause, detail: failure.detail)
    }

    init(_ contents: OutputContents) {
        self.contents = Contents(
            exists: contents.exists, otherLines: contents.otherLines, isAsConfigured: contents.isAsConfigured,
            places: contents.slots.map { slot, found in
                switch found {
                case .token(let token): Place(variable: slot.variable, token: WireToken(token))
                case .foreign: Place(variable: slot.variable, token: nil)
                }
            },
            directory: AbsolutePath(contents.realPath).flatMap { DirectoryMark(of: $0.directory) })
    }

    /// The answer that nothing would keep the file from being written.
    init() {}
}

/// Identifies a directory on this machine, by whichever path it is reached.
struct DirectoryMark: Codable, Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    /// Nil when its status cannot be read.
    init?(of directory: AbsolutePath) {
        guard let status = FileStatus.following(directory.description) else { return nil }
        device = status.identity.device
        inode = status.identity.inode
    }
}

/// A secret's bytes in a message on a user writer's socket; printing it shows none of them.
struct WireToken: Codable, Sendable, CustomStringConvertible, CustomReflectable {
    private let text: String

    init(_ token: Token) {
        text = token.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// What the other side sent as a token, checked for its length only.
    func token(sha256: ([UInt8]) -> [UInt8]) -> Token? {
        text.utf8.count > Token.maximumLength ? nil : Token(Array(text.utf8), sha256: sha256)
    }

    /// What a client secret states; nil when it is none.
    var form: SecretForm? {
        (try? CompactJWS(Array(text.utf8)))?.form
    }

    var description: String { "(a token)" }

    var customMirror: Mirror { Mirror(self, children: []) }
}
