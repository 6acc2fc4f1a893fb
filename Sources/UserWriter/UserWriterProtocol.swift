import AppleClientSecret
import Digest
import Failures
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
    /// The most JSON values of a message: each place in a file has four, and takes twenty bytes at least.
    private static let mostValues = limit / 4

    /// Why a message could not be read.
    enum FrameError: Error, Hashable, Sendable {
        /// The other side closed without sending anything.
        case nothing
        case truncated
        /// In bytes.
        case oversized(Int)
        case malformed
        /// The socket failed: `.timedOut`, `.canceled`, `.connectionReset`…
        case broken(Errno)
    }

    static func encode(_ message: some JSONConvertible) throws(FrameError) -> [UInt8] {
        let body = message.jsonText.bytes
        guard body.count <= limit else { throw .oversized(body.count) }
        return (0..<headerLength).reversed().map { UInt8(truncatingIfNeeded: body.count >> ($0 * 8)) } + body
    }

    static func read<Message: JSONDocument>(
        _ type: Message.Type, from stream: borrowing TimedStream
    ) throws(FrameError) -> Message {
        let header = try take(headerLength, from: stream)
        guard !header.isEmpty else { throw .nothing }
        let length = try bodyLength(header)
        let body = try take(length, from: stream)
        guard body.count == length else { throw .truncated }
        return try decode(type, body)
    }

    /// How many bytes follow this header.
    static func bodyLength(_ header: [UInt8]) throws(FrameError) -> Int {
        guard header.count == headerLength else { throw .truncated }
        let length = header.reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else { throw .oversized(length) }
        return length
    }

    static func decode<Message: JSONDocument>(_ type: Message.Type, _ body: [UInt8]) throws(FrameError) -> Message {
        do throws(JSONError) { return try Message(parsing: body, atMost: mostValues) } catch { throw .malformed }
    }

    private static func take(_ count: Int, from stream: borrowing TimedStream) throws(FrameError) -> [UInt8] {
        do {
            return try stream.read(exactly: count)
        } catch {
            throw .broken(error.errno)
        }
    }
}

/// A request of the daemon to a writer. A connection carries one request and one answer.
struct WriterRequest: Sendable {
    /// A writer and a daemon of different versions may meet for as long as the older one still runs.
    static let currentVersion = 1

    enum Task: String, JSONString, Sendable {
        case observe
        /// Find out what would keep the file from being written; nothing is touched.
        case examine
        case publish
    }

    /// One place in the file, whose it is and, to be published, what it is to hold.
    struct Place: Sendable {
        var variable: String?
        var client: String
        var token: Token?
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
                variable: slot.variable, client: client.description, token: secrets[slot])
        }
    }
}

/// A writer's answer: what the file held, or why that is not known.
struct WriterAnswer: Sendable {
    struct Place: Sendable {
        var variable: String?
        /// Nil: something that cannot be a token.
        var token: Token?
    }

    struct Contents: Sendable {
        var exists: Bool
        var otherLines: Bool
        var isAsConfigured: Bool
        /// Places that hold nothing are left out.
        var places: [Place]
        /// Why no edit could write some variables.
        var doubtful: [String: String]
        /// Which directory the file really is in, so that the daemon knows whether it would notice a change there.
        var directory: DirectoryMark?
    }

    struct Fault: Sendable {
        var code: String
        var cause: Int32?
        var detail: String?
    }

    var version = WriterRequest.currentVersion
    var fault: Fault?
    var contents: Contents?

    init(_ failure: Failure) {
        fault = Fault(code: failure.code.rawValue, cause: failure.cause, detail: failure.detail)
    }

    init(_ contents: OutputContents) {
        self.contents = Contents(
            exists: contents.exists, otherLines: contents.otherLines, isAsConfigured: contents.isAsConfigured,
            places: contents.slots.map { slot, found in
                switch found {
                case .token(let token): Place(variable: slot.variable, token: token)
                case .foreign: Place(variable: slot.variable, token: nil)
                }
            },
            doubtful: contents.editFailures.reduce(into: [:]) { all, entry in
                if let variable = entry.key.variable { all[variable] = entry.value.detail }
            },
            directory: AbsolutePath(contents.realPath).flatMap { DirectoryMark(of: $0.directory) })
    }

    /// The answer that nothing would keep the file from being written.
    init() {}
}

/// Identifies a directory on this machine, by whichever path it is reached.
struct DirectoryMark: Hashable, Sendable {
    let device: Int64
    let inode: Int64

    /// Nil when its status cannot be read, or when a number in it is more than JSON's readers keep exactly.
    init?(of directory: AbsolutePath) {
        guard let status = FileStatus.following(directory.description),
            let device = Int64(exactly: status.identity.device), let inode = Int64(exactly: status.identity.inode)
        else { return nil }
        self.device = device
        self.inode = inode
    }
}

// MARK: Members

// Names in messages between two processes, of which an upgrade replaces one first: never rename one.

extension WriterRequest: JSONDocument {
    init(_ request: Self?, _ members: inout JSONMembers) throws(JSONError) {
        version = try members("version", request?.version)
        task = try members("task", request?.task)
        path = try members("path", request?.path)
        kind = try members("kind", request?.kind)
        mode = try members.orAbsent("mode", request?.mode)
        group = try members.orAbsent("group", request?.group)
        places = try members("places", request?.places)
        mayCreate = try members("mayCreate", request?.mayCreate)
        tag = try members.orAbsent("tag", request?.tag)
    }
}

extension WriterRequest.Place: JSONDocument {
    init(_ place: Self?, _ members: inout JSONMembers) throws(JSONError) {
        variable = try members.orAbsent("variable", place?.variable)
        client = try members("client", place?.client)
        token = try members.orAbsent("token", place?.token)
    }
}

extension WriterAnswer: JSONDocument {
    init(_ answer: Self?, _ members: inout JSONMembers) throws(JSONError) {
        version = try members("version", answer?.version)
        fault = try members.orAbsent("fault", answer?.fault)
        contents = try members.orAbsent("contents", answer?.contents)
    }
}

extension WriterAnswer.Place: JSONDocument {
    init(_ place: Self?, _ members: inout JSONMembers) throws(JSONError) {
        variable = try members.orAbsent("variable", place?.variable)
        token = try members.orAbsent("token", place?.token)
    }
}

extension WriterAnswer.Contents: JSONDocument {
    init(_ contents: Self?, _ members: inout JSONMembers) throws(JSONError) {
        exists = try members("exists", contents?.exists)
        otherLines = try members("otherLines", contents?.otherLines)
        isAsConfigured = try members("isAsConfigured", contents?.isAsConfigured)
        places = try members("places", contents?.places)
        doubtful = try members.unlessEmpty("doubtful", contents?.doubtful) ?? [:]
        directory = try members.orAbsent("directory", contents?.directory)
    }
}

extension WriterAnswer.Fault: JSONDocument {
    init(_ fault: Self?, _ members: inout JSONMembers) throws(JSONError) {
        code = try members("code", fault?.code)
        cause = try members.orAbsent("cause", fault?.cause)
        detail = try members.orAbsent("detail", fault?.detail)
    }
}

extension DirectoryMark: JSONDocument {
    init(_ mark: Self?, _ members: inout JSONMembers) throws(JSONError) {
        device = try members("device", mark?.device)
        inode = try members("inode", mark?.inode)
    }
}
