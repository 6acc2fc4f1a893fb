import Linux
import Rotation

/// What may be wrong at a writer's end, and what helps.
enum WriterFaults {
    /// What a writer may report: what can be wrong with a file, and with itself.
    static let codes: Set<Trouble.Code> = [
        .directoryMissing, .notADirectory, .permissionDenied, .readOnlyFileSystem, .diskFull, .quotaExceeded, .ioError,
        .isDirectory, .isMountPoint, .isImmutable, .notARegularFile, .hardLinked, .outputIsInput, .sameFile,
        .fileTooLarge, .foreignOwner, .untrustedLink, .unguardedDirectory, .tooManyLinks, .unknownGroup,
        .groupNotPermitted, .attributesNotKept, .changedMeanwhile, .environmentFileMalformed, .nameTooLong,
        .outOfDescriptors, .outOfMemory, .systemError, .environmentFileDeleted, .selfCheckFailed,
        .writerNotPermitted, .writerRefused, .writerUnconfigured,
    ]

    /// The step that helps where the writer for `user` met `code`; nil: what helps with such troubles anywhere.
    static func remedy(
        _ code: Trouble.Code, _ user: String, _ path: AbsolutePath, _ configuration: String
    ) -> String? {
        let file = ShellWord.quoted(path.description)
        let directory = ShellWord.quoted(path.directory.description)
        let name = ShellWord.quoted(user)
        return switch code {
        case .writerMissing: "systemctl enable --now clientsecretd-writer@\(name).socket"
        case .writerSilent, .writerGarbled: "see what it says: journalctl -u clientsecretd-writer@\(name)"
        case .writerUnconfigured: readable(configuration, name)
        case .permissionDenied: "let \(name) write to \(directory): chown \(name) \(directory)"
        case .readOnlyFileSystem:
            "mount it writable, or add ReadWritePaths=-\(directory) to clientsecretd-writer@\(name).service"
        case .quotaExceeded: "make room, or raise the quota of \(name)"
        case .foreignOwner: "chown \(name) \(file)"
        case .groupNotPermitted: "give it a group of \(name)'s: chgrp GROUP \(file), or name one with \"group\""
        default: nil
        }
    }

    private static func readable(_ configuration: String, _ user: String) -> String {
        guard let path = AbsolutePath(configuration) else {
            return "let \(user) read \(ShellWord.quoted(configuration))"
        }
        let directory = ShellWord.quoted(path.directory.description)
        return "let \(user) read it: chmod a+rx \(directory) && chmod a+r \(ShellWord.quoted(configuration))"
    }
}
