package import Failures

extension Failure {
    /// What fixes it: the remedy known where the failure arose, else the one for its code; nil when there is none.
    package var remedy: Remedy? {
        knownRemedy ?? generalRemedy
    }

    /// Whether the failure was created with a remedy of its own.
    package var hasRemedyOfItsOwn: Bool { knownRemedy != nil }

    /// Gives no command where an operator must first check who owns the file or who put it there.
    private var generalRemedy: Remedy? {
        switch code {
        case .keyMissing: .say("copy the .p8 file there, or fix \"file\" in the configuration")
        case .keyUnreadable: .say("give the file to the daemon's user with chown, or pass it as a systemd credential")
        case .keyNotGuarded: nil
        case .keyEmpty, .keyTruncated, .keyMalformed: .say("copy the .p8 file again")
        case .keyTooLarge, .keyIsPublic, .keyIsCertificate: .say("name the .p8 file that Apple gave you")
        case .keyNotPEM:
            .say(
                "name the .p8 file that Apple gave you, or convert a DER file",
                run: "openssl pkey -inform DER -in \(path) -out \(converted)")
        case .keyIsRSA, .keyWrongCurve:
            .say("make a key for Sign in with Apple in Apple's developer account and name its .p8 file")
        case .keyIsSEC1: .say("convert it", run: "openssl pkcs8 -topk8 -nocrypt -in \(path) -out \(converted)")
        case .keyNeedsPassphrase: .say("write \"passphrase_file\" or \"passphrase_credential\" under the key")
        case .keyWrongPassphrase: .say("try the passphrase by hand", run: "openssl pkey -in \(path) -noout")
        case .keyTooCostly:
            .say("encrypt it anew with less", run: "openssl pkcs8 -topk8 -iter 600000 -in \(path) -out \(converted)")
        case .keyChanged: .say("put the old file back, which is all it takes to go back")
        case .passphraseUnusable: .say("write the passphrase alone into that file, readable by the daemon's user only")
        case .credentialMissing:
            .say("add LoadCredential=\(credential):/path/to/file to the daemon's unit and restart it")
        case .signingFailed: .say("restart the daemon; when it comes again, suspect the OpenSSL of this machine")
        case .selfCheckFailed:
            .say("restart the daemon; when it comes again, suspect the memory or the OpenSSL of this machine")
        case .directoryMissing: .say("make it, of the user that writes the file")
        case .notADirectory, .isDirectory: .say("write another path")
        case .permissionDenied:
            .say("let the daemon's user write to \(Printable.name(directory)), with ReadWritePaths= in its unit too")
        case .readOnlyFileSystem:
            .say("mount it writable, or add ReadWritePaths=-\(Printable.name(directory)) to the daemon's unit")
        case .diskFull: .say("make room", run: "df -h \(directory)")
        case .quotaExceeded: .say("make room, or raise the quota of the daemon's user")
        case .ioError: .say("look at what the kernel says", run: "dmesg")
        case .isMountPoint: .say("mount its directory instead")
        case .isImmutable: .say("take the mark away", run: "chattr -i -a \(path)")
        case .notARegularFile: .say("remove it, or write another path")
        case .outputIsInput: .say("write another path for this output")
        case .sameFile: .say("write one path for both, or another for this one")
        case .hardLinked: .say("find the other names and keep one", run: "find / -xdev -samefile \(path)")
        case .fileTooLarge: .say("shorten it, or write another path")
        case .foreignOwner: .say("write \"as:\" and the file's owner under the output, or another path")
        case .untrustedLink: .say("write the path that the link leads to")
        case .unguardedDirectory: .say("take the right from them, or write another path")
        case .tooManyLinks, .nameTooLong: .say("write a shorter path, without links")
        case .unknownUser: .say("add the user", run: "adduser --system \(named)")
        case .unknownGroup: .say("add the group", run: "addgroup --system \(named)")
        case .groupNotPermitted: .say("add the daemon's user to that group and start the daemon anew")
        case .outsideSandbox: nil
        case .attributesNotKept: .say("take the attributes away, or write to another file system")
        case .changedMeanwhile, .contested: .say("find out who else writes it", run: "inotifywait -m \(directory)")
        case .writerMissing: .say("start it for that user with systemctl enable --now clientsecretd-writer@USER.socket")
        case .writerNotPermitted: .say("run this as root or as the daemon's user, whom the writer's unit names")
        case .writerSilent, .writerGarbled: .say("see what it says", run: "journalctl -u 'clientsecretd-writer@*'")
        case .writerRefused: .say("put the configuration in force", run: "clientsecretd reload")
        case .writerUnconfigured: .say("let its user read the configuration, which belongs to root")
        case .environmentFileMalformed: .say("fix that line")
        case .outOfDescriptors: .say("raise LimitNOFILE= of the daemon's unit")
        case .outOfMemory: .say("make room, or raise MemoryMax= of the daemon's unit")
        case .notResponding: .say("see whether it hangs for others too")
        case .systemError: whySystemError
        case .environmentFileDeleted: .say("make the file again with its other lines; the variable is then added")
        case .stateUnusable: .say("give the directory to the daemon's user with chown, mode 0700")
        case .stateDamaged, .stateNewer: nil
        case .stateLocked: .say("stop the other one, or give this one a \"state_dir\" of its own")
        case .actionFailed: whyActionFailed
        case .actionInterrupted: nil
        case .actionTimedOut: .say("make it faster, or give it a longer \"timeout\"")
        case .actionNotStarted: .say("see that it exists and that the daemon's user may run it")
        case .renewalOverdue: .say("see what is in the way", run: "clientsecretd status")
        case .signatureUnchecked: .say("run this as root", run: "sudo clientsecretd health --offline")
        case .notReadable: .say("run this as root", run: "sudo clientsecretd health")
        case .noOutputs: nil
        case .unitNotPermitted: .say("add a rule for it below /etc/polkit-1/rules.d", run: "clientsecretd check")
        case .polkitMissing: .say("apt-get install polkitd, and see which rule it needs", run: "clientsecretd check")
        case .unitUnknown: .say("fix the unit's name, or see what there is", run: "systemctl list-unit-files")
        case .unitMasked: .run("systemctl unmask \(unit)")
        case .unitFailed: .say("start it", run: "systemctl start \(unit)")
        case .unitRefused, .unitEnded, .jobFailed, .jobTimedOut, .jobCanceled, .jobSkipped:
            .say("see why", run: "systemctl status \(unit)")
        case .jobDependency: .say("see which", run: "systemctl list-dependencies \(unit)")
        case .busUnreachable: .say("see whether the bus runs", run: "systemctl status dbus.socket")
        case .noSecret, .secretExpired, .secretExpiring:
            client.isEmpty ? .run("clientsecretd renew") : .run("clientsecretd renew \(client)")
        case .notPublished, .notDelivered: .run("clientsecretd renew --deliver-only \(client)")
        case .refusedByApple: .say("compare key id, team id and client id with Apple's developer account")
        case .verdictUnknown:
            .say(
                "see whether this machine reaches Apple",
                run: "curl -sS -o /dev/null https://appleid.apple.com/auth/keys")
        case .clockBeforeBuild, .clockDoubtful:
            .say("set the clock, or see why it is not synchronised", run: "timedatectl")
        case .configurationRefused: .say("see everything that is wrong", run: "clientsecretd check")
        case .configurationNotAdopted: .run("clientsecretd reload")
        case .credentialSocketUnusable:
            .say("let systemd make it", run: "systemctl enable --now clientsecretd-credentials.socket")
        case .metricsFileUnwritable: .say("see what is missing", run: "clientsecretd check")
        case .socketUnusable: .say("remove what lies there, or name another with --socket, and restart the daemon")
        }
    }

    /// The user or group: the place's name, or the detail where the place is a file.
    private var named: String {
        if case .named(let name) = place { name } else { detail ?? "NAME" }
    }

    /// The failure's path; `OLD` where its place is not a path.
    private var path: String {
        if case .path(let path) = place { path.description } else { "OLD" }
    }

    private var converted: String {
        if case .path(let path) = place { path.description + ".pkcs8.p8" } else { "NEW" }
    }

    private var directory: String {
        if case .path(let path) = place { path.directory.description } else { "its directory" }
    }

    private var credential: String {
        if case .credential(let name) = place { name } else { "NAME" }
    }

    /// Where to look when only an error number is known.
    private var whySystemError: Remedy {
        guard case .path = place else { return .say("see what came before it", run: "journalctl -u clientsecretd") }
        return .say("see what lies there and whose it is", run: "namei -l \(path)")
    }

    /// A program can be tried by hand; for a unit, systemd shows why it failed.
    private var whyActionFailed: Remedy? {
        guard case .action(let action) = place else { return nil }
        let words = action.description.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words.first != "exec" else {
            return words.last.map { .say("try it by hand as the daemon's user: \($0)") }
        }
        return .say("see why", run: "systemctl status \(unit)")
    }

    /// The unit that an action is about: the last of the action's words.
    private var unit: String {
        guard case .action(let action) = place, let unit = action.description.split(separator: " ").last else {
            return "UNIT"
        }
        return String(unit)
    }

    private var client: String {
        if case .client(let name) = place { name.description } else { "" }
    }
}
