package import Failures

/// Why a configuration is not accepted.
package struct ConfigurationError: Error, Hashable, Sendable {
    /// Errors and warnings, by file and position; at least one of them is an error.
    package let diagnostics: [Diagnostic]
    /// Why the text of one of its files is not known; nil if all of it was judged.
    package var unread: UnreadText?

    package init(diagnostics: [Diagnostic], unread: UnreadText? = nil) {
        self.diagnostics = diagnostics
        self.unread = unread
    }

    /// The first error.
    package var headline: Diagnostic? { diagnostics.first { $0.severity == .error } }

    /// The errors, and then the warnings, which are not why it is refused.
    package var errorsFirst: [Diagnostic] {
        diagnostics.filter { $0.severity == .error } + diagnostics.filter { $0.severity == .warning }
    }
}

/// Why the text of a file is not known.
package enum UnreadText: Hashable, Sendable {
    /// The current user may not read it.
    case notPermitted
    /// The system could not read it now, for example because of a disk error. The text may be correct.
    case systemFailed

    /// - Parameter code: why the file could not be read; nil results if the file itself has to be changed.
    package init?(_ code: FailureCode) {
        switch code {
        case .permissionDenied: self = .notPermitted
        case .ioError, .notResponding, .outOfDescriptors, .outOfMemory, .outOfTasks, .systemError, .diskFull,
            .quotaExceeded, .readOnlyFileSystem:
            self = .systemFailed
        default: return nil
        }
    }
}
