package import Failures
package import SystemPackage

/// Why a path could not be used as a file or directory: the code, the component concerned, and the fix. The caller turns it
/// into a failure, which names a place in the configuration.
package struct FileError: Error, Hashable, Sendable {
    package let code: FailureCode
    /// The real path of the component or file concerned: links on the way are resolved.
    package let path: String
    package let errno: Errno?
    /// Details that the code does not give: the owner, the kind of file, or the name of an attribute.
    package let detail: String?
    /// The remedy, if it is known here.
    package let remedy: Remedy?
    /// The name, or else the number, of the other user that owns the file or directory, so that it is not touched.
    package let owner: String?

    package init(
        _ code: FailureCode, at path: String, errno: Errno? = nil, detail: String? = nil, remedy: Remedy? = nil,
        owner: String? = nil
    ) {
        self.code = code
        self.path = path
        self.errno = errno
        self.detail = detail
        self.remedy = remedy
        self.owner = owner
    }

    /// The number of ``errno``.
    package var cause: Int32? { errno?.rawValue }

    /// The path concerned, as a message about `file` names it; nil when it is that file itself.
    package func component(of file: String) -> String? {
        path == file ? nil : Printable.name(path)
    }

    /// The path concerned and its problem, after a message about `file`; nil when the message is complete without it.
    package func explanation(of file: String) -> String? {
        let parts = [component(of: file), detail].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ": ")
    }
}

extension FileError: CustomStringConvertible {
    /// One line for operators, in the words of a failure: path, problem, detail, the system's error and the remedy.
    package var description: String {
        var text = "\(Printable.name(path)): \(code.words)"
        if let detail { text += ": \(Printable.line(detail))" }
        if let cause { text += " (\(ErrorNumber.words(for: cause)))" }
        let remedy = remedy ?? code.remedy(for: FailureSubject(path: path, detail: detail, cause: cause))
        return remedy.map { "\(text); \($0)" } ?? text
    }
}

extension FileError {
    /// The error for a failed call's errno on `path`. `missing` is the code for a name that does not exist.
    init(of errno: Errno, at path: String, missing: FailureCode = .missing) {
        let code: FailureCode =
            switch errno {
            case .noSuchFileOrDirectory: missing
            case .notDirectory: .notADirectory
            case .permissionDenied, .notPermitted: .permissionDenied
            case .readOnlyFileSystem: .readOnlyFileSystem
            case .noSpace: .diskFull
            case .diskQuotaExceeded: .quotaExceeded
            // Errors of network file systems when their server is gone.
            case .ioError, .staleNFSFileHandle, .timedOut, .socketNotConnected, .hostIsDown: .ioError
            case .isDirectory: .isDirectory
            case .resourceBusy: .isMountPoint
            // The process's own limit, because the content is short.
            case .fileTooLarge: .systemError
            case .fileNameTooLong: .nameTooLong
            // ELOOP: a name that was no link a moment ago is one now.
            case .tooManySymbolicLinkLevels: .changedMeanwhile
            default: ProcessLimit(reached: errno.rawValue)?.code ?? .systemError
            }
        self.init(
            code, at: path, errno: errno,
            remedy: errno == .fileTooLarge
                ? .say("raise the limit on the size of files: LimitFSIZE= of the unit, or ulimit -f") : nil)
    }
}

/// Returns the result of a function of `CLinux`, or throws if it is -errno.
func checked<Value: SignedInteger & FixedWidthInteger>(
    _ result: Value, _ path: @autoclosure () -> String, missing: FailureCode = .missing
) throws(FileError) -> Value {
    guard result < 0 else { return result }
    throw FileError(of: Errno(rawValue: Int32(truncatingIfNeeded: -result)), at: path(), missing: missing)
}
