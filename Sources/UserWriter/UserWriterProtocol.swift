import AppleClientSecret
import Digest
import Failures
import Linux
import Model
import Outputs
import SystemPackage

/// One message on the socket: a JSON document on one line.
enum WriterMessage {
    /// In bytes: twice the limit of a file. This has room for every token of the largest file and the names of their
    /// slots.
    static let longest = 2 * OutputLimits.fileSize
    /// The most JSON values of a message: each place in a file has four, and takes twenty bytes at least.
    private static let mostValues = longest / 4

    static func line(of message: some JSONDocument) -> [UInt8] { message.jsonText.bytes + [UInt8(ascii: "\n")] }

    /// Throws `.connectionReset` if the other side closes without sending anything, `.badMessage` for something else than a
    /// message, and as ``UnixStream/line(atMost:)`` does.
    static func read<Message: JSONDocument>(
        _ type: Message.Type, from stream: inout UnixStream
    ) throws(SystemError) -> Message {
        let line = try stream.line(atMost: longest)
        guard line != nil || stream.isInLine else { throw SystemError("read a message", errno: .connectionReset) }
        guard let line, let message = try? Message(parsing: line, atMost: mostValues) else {
            throw SystemError("read a message", errno: .badMessage)
        }
        return message
    }
}

/// A request of the daemon to a writer. A connection carries one request and one answer.
struct WriterRequest: Sendable {
    /// A writer and a daemon of different versions may meet for as long as the older one still runs.
    static let currentVersion = 1

    enum Task: String, JSONString, Sendable {
        case observe
        /// The same if that is refused; only used for the judgement.
        case look
        /// Find out whether anything would keep the file from being written; nothing is touched.
        case examine
        case publish
    }

    /// One place in the file, its client and, to be published, its new content.
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
    var overWriters = false
    /// The tag of the daemon's temporaries (``Linux/TemporaryNames``); nil: nothing may be touched.
    var tag: String?

    init(_ task: Task, _ spec: FileSpec, secrets: [FileSlot: Token] = [:]) {
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

/// A writer's answer: the file's content, or why that is not known.
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
        var isExact: Bool
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
            isExact: contents.isExact,
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

    /// The answer with the content of a file for programs.
    init(_ slots: [FileSlot: SlotContents], at path: AbsolutePath) {
        self.init(
            OutputContents(
                exists: true, otherLines: false, isAsConfigured: false, realPath: path.description, slots: slots))
    }

    /// The answer that nothing would keep the file from being written.
    init() {}
}

extension WriterAnswer.Fault {
    /// The failures that a writer may report: those of a file, and of the writer itself.
    static let codes: Set<Failure.Code> = [
        .directoryMissing, .notADirectory, .permissionDenied, .readOnlyFileSystem, .diskFull, .quotaExceeded, .ioError,
        .isDirectory, .isMountPoint, .isImmutable, .notARegularFile, .outputForeign, .outputIsInput, .sameFile,
        .fileTooLarge, .foreignOwner, .untrustedLink, .unguardedDirectory, .tooManyLinks, .unknownGroup,
        .groupNotPermitted, .attributesNotKept, .changedMeanwhile, .openForWriting, .outputMalformed,
        .nameTooLong, .outOfDescriptors, .outOfMemory, .outOfTasks, .systemError, .outputDeleted, .outputEmptied,
        .selfCheckFailed, .writerNotPermitted, .writerRefused, .writerUnconfigured,
    ]
}

/// Identifies a directory on this machine, even if it is reached by several paths.
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
        overWriters = try members.flag("overWriters", request?.overWriters)
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
        isExact = try !members.flag("isInexact", contents.map { !$0.isExact })
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
