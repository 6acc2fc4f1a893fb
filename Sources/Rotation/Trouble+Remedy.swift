extension Trouble {
    /// The one command or step that helps: the one in `detail`, after its first `; `, else what helps with such troubles;
    /// nil when there is none.
    package var remedy: String? {
        splitDetail.remedy ?? generalRemedy
    }

    private var generalRemedy: String? {
        switch code {
        case .keyMissing: "copy the .p8 file there, or mend \"file\" in the configuration"
        case .keyUnreadable: "give the file to the daemon's user with chown, or pass it as a systemd credential"
        case .keyNotGuarded: nil
        case .keyEmpty, .keyTruncated, .keyMalformed: "copy the .p8 file again"
        case .keyTooLarge, .keyIsPublic, .keyIsCertificate: "name the .p8 file that Apple gave you"
        case .keyNotPEM:
            "name the .p8 file that Apple gave you, or convert a DER file: openssl pkey -inform DER -in \(path) -out \(converted)"
        case .keyIsRSA, .keyWrongCurve:
            "make a key for Sign in with Apple in Apple's developer account and name its .p8 file"
        case .keyIsSEC1: "convert it: openssl pkcs8 -topk8 -nocrypt -in \(path) -out \(converted)"
        case .keyNeedsPassphrase: "write \"passphrase_file\" or \"passphrase_credential\" under the key"
        case .keyWrongPassphrase: "try the passphrase by hand: openssl pkey -in \(path) -noout"
        case .keyTooCostly:
            "encrypt it anew with less: openssl pkcs8 -topk8 -iter 600000 -in \(path) -out \(converted)"
        case .keyChanged: "put the old file back, which is all it takes to go back"
        case .passphraseUnusable: "write the passphrase alone into that file, readable by the daemon's user only"
        case .credentialMissing: "add LoadCredential=\(credential):/path/to/file to the daemon's unit and restart it"
        case .signingFailed: "restart the daemon; when it comes again, suspect the OpenSSL of this machine"
        case .selfCheckFailed:
            "restart the daemon; when it comes again, suspect the memory or the OpenSSL of this machine"
        case .directoryMissing: "make it: mkdir -p \(directory)"
        case .notADirectory, .isDirectory: "write another path"
        case .permissionDenied: "let the daemon's user write to \(directory), with ReadWritePaths= in its unit too"
        case .readOnlyFileSystem: "mount it writable, or add ReadWritePaths=-\(directory) to the daemon's unit"
        case .diskFull: "make room: df -h \(directory)"
        case .quotaExceeded: "make room, or raise the quota of the daemon's user"
        case .ioError: "look at what the kernel says: dmesg"
        case .isMountPoint: "mount its directory instead"
        case .isImmutable: "take the mark away: chattr -i -a \(path)"
        case .notARegularFile: "remove it, or write another path"
        case .outputIsInput: "write another path for this output"
        case .sameFile: "write one path for both, or another for this one"
        case .hardLinked: "find the other names and keep one: find / -xdev -samefile \(path)"
        case .fileTooLarge: "shorten it, or write another path"
        case .foreignOwner: "give it to the daemon's user with chown, or write another path"
        case .untrustedLink: "write the path that the link leads to"
        case .unguardedDirectory: "take the right from them: chmod go-w on the directory"
        case .tooManyLinks, .nameTooLong: "write a shorter path, without links"
        case .unknownUser: "add the user: adduser --system \(named)"
        case .unknownGroup: "add the group: addgroup --system \(named)"
        case .groupNotPermitted: "add the daemon's user to that group and start the daemon anew"
        case .attributesNotKept: "take the attributes away, or write to another file system"
        case .changedMeanwhile, .contested: "find out who else writes it: inotifywait -m \(directory)"
        case .writerMissing: "systemctl enable --now clientsecretd-writer@USER.socket"
        case .writerNotPermitted: "run this as root or as the daemon's user, whom the writer's unit names"
        case .writerSilent, .writerGarbled: "see what it says: journalctl -u 'clientsecretd-writer@*'"
        case .writerRefused: "put the configuration in force: clientsecretd reload"
        case .writerUnconfigured: "let its user read the configuration, which belongs to root"
        case .environmentFileMalformed: "mend that line"
        case .outOfDescriptors: "raise LimitNOFILE= of the daemon's unit"
        case .outOfMemory: "make room, or raise MemoryMax= of the daemon's unit"
        case .notResponding: "see whether it hangs for others too"
        case .systemError: whySystemError
        case .environmentFileDeleted: "make the file again with its other lines; the variable is then added"
        case .stateUnusable: "give the directory to the daemon's user with chown, mode 0700"
        case .stateDamaged, .stateNewer: nil
        case .stateLocked: "stop the other one, or give this one a \"state_dir\" of its own"
        case .actionFailed: whyActionFailed
        case .actionInterrupted: nil
        case .actionTimedOut: "make it faster, or give it a longer \"timeout\""
        case .actionNotStarted: "see that it exists and that the daemon's user may run it"
        case .renewalOverdue: "see what is in the way: clientsecretd status"
        case .noOutputs: nil
        case .unitNotPermitted: "add a rule for it below /etc/polkit-1/rules.d: clientsecretd check"
        case .polkitMissing: "apt-get install polkitd, and see which rule it needs: clientsecretd check"
        case .unitUnknown: "mend the unit's name, or see what there is: systemctl list-unit-files"
        case .unitMasked: "systemctl unmask \(unit)"
        case .unitFailed: "start it: systemctl start \(unit)"
        case .unitRefused, .unitEnded, .jobFailed, .jobTimedOut, .jobCanceled, .jobSkipped:
            "see why: systemctl status \(unit)"
        case .jobDependency: "see which: systemctl list-dependencies \(unit)"
        case .busUnreachable: "see whether the bus runs: systemctl status dbus.socket"
        case .noSecret, .secretExpired, .secretExpiring:
            client.isEmpty ? "clientsecretd renew" : "clientsecretd renew \(client)"
        case .notPublished, .notDelivered: "clientsecretd renew --deliver-only \(client)"
        case .refusedByApple: "compare key id, team id and client id with Apple's developer account"
        case .verdictUnknown:
            "see whether this machine reaches Apple: curl -sS -o /dev/null https://appleid.apple.com/auth/keys"
        case .clockBeforeBuild, .clockDoubtful: "set the clock, or see why it is not synchronised: timedatectl"
        case .configurationRefused: "see everything that is wrong: clientsecretd check"
        case .credentialSocketUnusable: "let systemd make it: systemctl enable --now clientsecretd-credentials.socket"
        case .metricsFileUnwritable: "see what is missing: clientsecretd check"
        case .socketUnusable: "remove what lies there, or name another with --socket, and restart the daemon"
        }
    }

    /// The user or group: named by the place itself, or by the detail where that is a file.
    private var named: String {
        if case .named(let name) = place { ShellWord.quoted(name) } else { detail.map(ShellWord.quoted) ?? "NAME" }
    }

    /// The path as a word for a shell; `OLD` where the trouble is not about a path.
    private var path: String {
        if case .path(let path) = place { ShellWord.quoted(path.description) } else { "OLD" }
    }

    private var converted: String {
        if case .path(let path) = place { ShellWord.quoted(path.description + ".pkcs8.p8") } else { "NEW" }
    }

    private var directory: String {
        if case .path(let path) = place { ShellWord.quoted(path.directory.description) } else { "its directory" }
    }

    private var credential: String {
        if case .credential(let name) = place { name } else { "NAME" }
    }

    /// What there is to see where nothing is known but a number of the system's.
    private var whySystemError: String {
        guard case .path = place else { return "see what came before it: journalctl -u clientsecretd" }
        return "see what lies there and whose it is: namei -l \(path)"
    }

    /// A program is tried by hand; of a unit systemd knows why.
    private var whyActionFailed: String? {
        guard case .action(let action) = place else { return nil }
        let words = action.description.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words.first != "exec" else {
            return words.last.map { "try it by hand as the daemon's user: \($0)" }
        }
        return "see why: systemctl status \(unit)"
    }

    /// The unit that an action is about, as a word for a shell: the last of the action's words.
    private var unit: String {
        guard case .action(let action) = place, let unit = action.description.split(separator: " ").last else {
            return "UNIT"
        }
        return ShellWord.quoted(String(unit))
    }

    private var client: String {
        if case .client(let name) = place { name.description } else { "" }
    }
}

/// Words of a shell's command line.
package enum ShellWord {
    /// `text` as one word: as it stands where no character means something to a shell, else in single quotes.
    package static func quoted(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57: true
            default: "._-/=:,@%+".utf8.contains(byte)
            }
        }
        if plain && !text.isEmpty { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
