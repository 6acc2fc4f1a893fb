import Config
import Failures
import Linux
import Rotation

/// Failures that a user writer may report, and remedies.
enum WriterFaults {
    /// What a writer may report: failures of a file, and of the writer itself.
    static let codes: Set<Failure.Code> = [
        .directoryMissing, .notADirectory, .permissionDenied, .readOnlyFileSystem, .diskFull, .quotaExceeded, .ioError,
        .isDirectory, .isMountPoint, .isImmutable, .notARegularFile, .hardLinked, .outputIsInput, .sameFile,
        .fileTooLarge, .foreignOwner, .untrustedLink, .unguardedDirectory, .tooManyLinks, .unknownGroup,
        .groupNotPermitted, .attributesNotKept, .changedMeanwhile, .environmentFileMalformed, .nameTooLong,
        .outOfDescriptors, .outOfMemory, .systemError, .environmentFileDeleted, .selfCheckFailed,
        .writerNotPermitted, .writerRefused, .writerUnconfigured,
    ]

    /// The remedy when the writer for `user` met `code`; nil: the general remedy for that code applies.
    static func remedy(
        _ code: Failure.Code, _ user: String, _ path: AbsolutePath, _ configuration: String
    ) -> Remedy? {
        let file = path.description
        let directory = path.directory.description
        return switch code {
        case .writerMissing: .run("systemctl enable --now \(unit(user, "socket"))")
        case .writerSilent, .writerGarbled: .say("see what it says", run: "journalctl -u \(unit(user, "service"))")
        case .writerUnconfigured: readable(configuration, user)
        case .permissionDenied: .say("let \(user) write to it", run: "chown \(user) \(directory)")
        case .directoryMissing: .say("make it", run: .makeDirectory(directory, of: user))
        case .readOnlyFileSystem:
            .say(
                "mount it writable, or let the writer write there",
                run: .letWrite(unit(user, "service"), to: directory))
        case .quotaExceeded: .say("make room, or raise the quota of \(user)")
        case .foreignOwner: .say("look at it with ls -l, and write its owner under \"as\" or remove it")
        case .groupNotPermitted:
            .say("give it a group of \(user)'s, or name one with \"group\"", run: "chgrp $(id -g \(user)) \(file)")
        default: nil
        }
    }

    private static func unit(_ user: String, _ kind: String) -> String { "clientsecretd-writer@\(user).\(kind)" }

    private static func readable(_ configuration: String, _ user: String) -> Remedy {
        guard let path = AbsolutePath(configuration) else {
            return .say("let \(user) read \(Printable.name(configuration))")
        }
        var directories: ShellCommand = "chmod a+rx \(path.directory.description)"
        var files: ShellCommand = "chmod a+r \(configuration)"
        // The writer may name the file, but it is another user's claim: all are listed.
        let additions = SettingsParser.directory(of: path).description
        if let names = try? TrustedFile.names(in: additions, ending: ".yaml", as: .current()) {
            directories = "\(directories) \(additions)"
            for name in names { files = "\(files) \(additions + "/" + name)" }
        }
        return .say("let \(user) read it", run: directories.then(files))
    }
}
