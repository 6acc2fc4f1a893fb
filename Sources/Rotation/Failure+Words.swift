internal import Failures

extension Failure {
    /// The message for operators: place, what happened, detail and the system's error. One line without a full stop.
    package var message: String {
        var text = "\(place): \(words)"
        if let detail, !detail.isEmpty { text += ": " + detail }
        if let cause { text += " (\(ErrorNumber.words(for: cause)))" }
        return text
    }

    /// The message and, if there is one, the remedy.
    package var sentence: String {
        remedy.map { "\(message); \($0)" } ?? message
    }

    private var words: String {
        switch code {
        case .keyMissing: "there is no such key file"
        case .keyUnreadable: "the key cannot be read"
        case .keyNotGuarded: "others could read or replace the key"
        case .keyEmpty: "the key file is empty"
        case .keyTruncated: "the key file ends in the middle"
        case .keyTooLarge: "too large for a private key"
        case .keyNotPEM: "not a PEM file"
        case .keyIsPublic: "a public key, where the private one is needed"
        case .keyIsCertificate: "a certificate, where a private key is needed"
        case .keyIsRSA: "an RSA key, where Apple's keys are P-256"
        case .keyWrongCurve: "an EC key on another curve than P-256"
        case .keyIsSEC1: "an EC PRIVATE KEY (SEC1), where PKCS#8 is needed"
        case .keyMalformed: "the private key cannot be decoded"
        case .keyNeedsPassphrase: "the key is encrypted and no passphrase is configured"
        case .keyWrongPassphrase: "the passphrase does not open the key"
        case .keyTooCostly: "the key is encrypted with more work than is done to open it"
        case .keyChanged:
            "its file holds another key than before under the same key id, more likely than not by mistake, for Apple gives no two keys one id"
        case .passphraseUnusable: "the passphrase cannot be used"
        case .credentialMissing: "systemd has not passed this credential"
        case .signingFailed: "the key did not sign"
        case .selfCheckFailed: "the new secret did not pass the check with the key's public half and was thrown away"
        case .directoryMissing: "its directory does not exist"
        case .notADirectory: "something on the way to it is not a directory"
        case .permissionDenied: "the user that writes it may not do this"
        case .readOnlyFileSystem: "the file system is read-only"
        case .diskFull: "the disk is full"
        case .quotaExceeded: "the disk quota is used up"
        case .ioError: "the disk or file server fails"
        case .isDirectory: "a directory, where a file is needed"
        case .isMountPoint: "mounted on its own, so it cannot be replaced"
        case .isImmutable: "marked so that it cannot be changed"
        case .notARegularFile: "not a regular file"
        case .outputIsInput: "it is something that the daemon reads, such as a key, and is never written to"
        case .sameFile: "it is the same file as another output"
        case .hardLinked: "the file has further names, which would keep the old content"
        case .fileTooLarge: "the file is too large"
        case .foreignOwner: "the file is another user's and is left alone"
        case .untrustedLink: "a link on the way is not followed, for others could change it"
        case .unguardedDirectory: "others may write to a directory on the way"
        case .tooManyLinks: "too many links on the way"
        case .unknownUser: "there is no such user"
        case .unknownGroup: "there is no such group"
        case .groupNotPermitted: "the user that writes it may not give files to this group"
        case .outsideSandbox: "the unit's sandbox is in the way"
        case .attributesNotKept: "the file's attributes could not be kept"
        case .changedMeanwhile: "somebody else changed it at the same time, again and again"
        case .environmentFileMalformed: "an environment file that cannot be edited safely"
        case .nameTooLong: "the path is too long"
        case .outOfDescriptors: "too many files are open"
        case .outOfMemory: "out of memory"
        case .notResponding: "not responding"
        case .systemError: "the system refused"
        case .environmentFileDeleted:
            "the file was deleted together with its other lines and is not made again with one"
        case .contested: "something else goes on changing it"
        case .writerMissing: "no writer can be reached for its user"
        case .writerNotPermitted: "the writer for its user takes no requests from this one"
        case .writerSilent: "the writer for its user gave no answer"
        case .writerGarbled: "the answer of the writer for its user makes no sense"
        case .writerRefused: "the writer for its user refuses"
        case .writerUnconfigured: "the writer for its user cannot use the configuration"
        case .stateUnusable: "the state directory cannot be used, so nothing is remembered over a reboot"
        case .stateDamaged: "what was kept here is damaged and was set aside"
        case .stateNewer: "what was kept here is a newer version's and was set aside"
        case .stateLocked: "another daemon holds the state directory"
        case .actionFailed: "failed"
        case .actionTimedOut: "took longer than its timeout and was ended"
        case .actionNotStarted: "could not be started"
        case .actionInterrupted: "was ended because the daemon stopped"
        case .unitNotPermitted: "systemd may not do this for the daemon's user"
        case .polkitMissing: "systemd may not do this for the daemon's user, and polkit is not installed"
        case .unitUnknown: "there is no such unit"
        case .unitMasked: "the unit is masked"
        case .unitRefused: "systemd does not do this"
        case .unitFailed: "the unit has failed, and this does not start it"
        case .unitEnded: "the unit was started and ended within seconds"
        case .busUnreachable: "systemd cannot be asked over the bus"
        case .jobFailed: "its job failed"
        case .jobTimedOut: "its job took too long"
        case .jobCanceled: "its job was canceled, or another took its place"
        case .jobDependency: "a unit that it needs failed"
        case .jobSkipped: "its job was skipped, for it did not fit what the unit did by then"
        case .noSecret: "there is no secret yet"
        case .secretExpired: "the secret has expired"
        case .secretExpiring: "the secret expires soon"
        case .renewalOverdue: "the secret should have been renewed by now"
        case .signatureUnchecked: "its signature was not checked, for this user may not read the key"
        case .notReadable: "this user may not read it"
        case .noOutputs: "it has no output, so that only the daemon knows its secret"
        case .notPublished: "the current secret is not in all of its outputs yet"
        case .notDelivered: "the current secret is published, but not all applications were told"
        case .refusedByApple: "Apple refused the new secret"
        case .verdictUnknown: "Apple could not be asked about the new secret"
        case .clockBeforeBuild: "shows a time before this program was built, so nothing is minted"
        case .clockDoubtful: "is not synchronised and behind a secret of ours, so nothing is minted"
        case .configurationRefused: "the configuration would not start"
        case .configurationNotAdopted: "the configuration passes by now, but the one from before the start is in force"
        case .socketUnusable: "the socket cannot be used"
        case .credentialSocketUnusable: "the socket cannot be used, so no unit can load a credential from it"
        case .metricsFileUnwritable: "the metrics_file cannot be written, so node_exporter shows old metrics or none"
        }
    }
}

extension Failure.Place: CustomStringConvertible {
    /// One line; text that others chose is escaped.
    package var description: String {
        switch self {
        case .key(let name): "key \"\(name)\""
        case .client(let name): "client \"\(name)\""
        case .path(let path): Printable.line(path.description)
        case .action(let action): Printable.line(action.description)
        case .credential(let name): "credential \"\(name)\""
        case .named(let name): Printable.line(name)
        case .clock: "the clock"
        }
    }
}
