package import Failures
package import SystemPackage

/// Why a path could not be used as a file or directory: the kind of error, the component concerned, and the fix.
package struct FileError: Error, Hashable, Sendable {
    package let kind: Kind
    /// The real path of the component or file concerned: links on the way are resolved.
    package let path: String
    package let errno: Errno?
    /// What is wrong with it, beyond what the kind says: its owner, what kind of file it is, the name of an attribute.
    package let detail: String?
    /// What fixes it, where that is known here.
    package let remedy: Remedy?
    /// The other user who owns the file or directory, so that it is left alone: by name, or else by number.
    package let owner: String?

    package init(
        _ kind: Kind, at path: String, errno: Errno? = nil, detail: String? = nil, remedy: Remedy? = nil,
        owner: String? = nil
    ) {
        self.kind = kind
        self.path = path
        self.errno = errno
        self.detail = detail
        self.remedy = remedy
        self.owner = owner
    }

    /// The number of ``errno``.
    package var cause: Int32? { errno?.rawValue }

    /// Raw values are the names that errors have in status, metrics and the journal.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The file does not exist; for a directory this is `directoryMissing`.
        case missing
        /// Its owner or mode lets another user read a key, or decide who may use one.
        case notGuarded = "not_guarded"
        case directoryMissing = "directory_missing"
        case notADirectory = "not_a_directory"
        case permissionDenied = "permission_denied"
        case readOnlyFileSystem = "read_only_file_system"
        case diskFull = "disk_full"
        case quotaExceeded = "quota_exceeded"
        case ioError = "io_error"
        case isDirectory = "is_directory"
        case isMountPoint = "is_mount_point"
        /// Or append-only, as the detail then says.
        case isImmutable = "is_immutable"
        case notARegularFile = "not_a_regular_file"
        case hardLinked = "hard_linked"
        case fileTooLarge = "file_too_large"
        case foreignOwner = "foreign_owner"
        case untrustedLink = "untrusted_link"
        case unguardedDirectory = "unguarded_directory"
        case tooManyLinks = "too_many_links"
        case groupNotPermitted = "group_not_permitted"
        case attributesNotKept = "attributes_not_kept"
        case changedMeanwhile = "changed_meanwhile"
        case nameTooLong = "name_too_long"
        case outOfDescriptors = "out_of_descriptors"
        case outOfMemory = "out_of_memory"
        case systemError = "system_error"
    }
}

extension FileError: CustomStringConvertible {
    package var description: String {
        var text = "\(kind.rawValue): \(path)"
        if let detail { text += ": \(detail)" }
        if let errno { text += ": \(errno)" }
        if let remedy { text += " (\(remedy))" }
        return text
    }
}

extension FileError {
    /// The error for a failed call's errno on `path`. `missing` is the kind for a name that does not exist.
    init(of errno: Errno, at path: String, missing: Kind = .missing) {
        let kind: Kind =
            switch errno {
            case .noSuchFileOrDirectory: missing
            case .notDirectory: .notADirectory
            case .permissionDenied, .notPermitted: .permissionDenied
            case .readOnlyFileSystem: .readOnlyFileSystem
            case .noSpace: .diskFull
            case .diskQuotaExceeded: .quotaExceeded
            // What network file systems return when their server is gone.
            case .ioError, .staleNFSFileHandle, .timedOut, .socketNotConnected, .hostIsDown: .ioError
            case .isDirectory: .isDirectory
            case .resourceBusy: .isMountPoint
            case .fileTooLarge: .fileTooLarge
            case .fileNameTooLong: .nameTooLong
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem: .outOfDescriptors
            case .noMemory: .outOfMemory
            // ELOOP: a name that was no link a moment ago is one now.
            case .tooManySymbolicLinkLevels: .changedMeanwhile
            default: .systemError
            }
        self.init(kind, at: path, errno: errno)
    }
}

/// Returns the result of a function of `CLinux`, or throws if it is -errno.
func checked<Value: SignedInteger & FixedWidthInteger>(
    _ result: Value, _ path: @autoclosure () -> String, missing: FileError.Kind = .missing
) throws(FileError) -> Value {
    guard result < 0 else { return result }
    throw FileError(of: Errno(rawValue: Int32(truncatingIfNeeded: -result)), at: path(), missing: missing)
}
