internal import Failures
import Linux
import Outputs
import Rotation

/// What a writer answers: what the file was seen to hold, or why that cannot be told.
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
        case version, fault
        case contents = "sight"
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

    /// Nothing stands in the way.
    init() {}
}

/// What tells a directory from all others of the machine, under whichever path it is seen.
struct DirectoryMark: Codable, Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    /// Nil when it cannot be looked at.
    init?(of directory: AbsolutePath) {
        guard let status = FileStatus.following(directory.description) else { return nil }
        device = status.identity.device
        inode = status.identity.inode
    }
}
