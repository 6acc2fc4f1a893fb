extension FailureCode {
    /// The problem, in words that follow the failure's place: "/srv/web.jwt: the disk is full".
    package var words: String { row.words }

    /// How soon failed work is tried again.
    package var retry: RetryKind { row.retry }

    /// The common traits of the code and others, beyond its retries.
    package var traits: FailureTraits { row.traits }

    /// The remedy for any failure of this code; nil when there is none.
    package func remedy(for subject: FailureSubject) -> Remedy? { row.remedy(subject) }

    /// The table. A remedy is nil if none is known. It has no command if an operator must first check the file's owner or origin.
    private var row: Row {
        switch self {
        // Keys and their passphrases.
        case .keyMissing:
            row("there is no such key file", "copy the .p8 file there, or fix \"file\" in the configuration")
        case .keyUnreadable:
            row(
                "the key cannot be read",
                "let only the daemon's user read the file, or pass it as a systemd credential")
        case .keyNotGuarded: row("other users can read or replace the key", nil)
        case .keyEmpty: row("the key file is empty", .copyKeyFile)
        case .keyTruncated: row("the key file ends in the middle", .copyKeyFile)
        case .keyTooLarge: row("too large for a private key", .nameKeyFile)
        case .keyNotPEM: row("not a PEM file", .nameKeyFile)
        case .keyIsPublic: row("a public key, not the private one", .nameKeyFile)
        case .keyIsCertificate: row("a certificate, not a private key", .nameKeyFile)
        case .keyIsRSA: row("an RSA key, but Apple's keys are P-256", .createKey)
        case .keyNotEC: row("not an EC key, but Apple's keys are P-256", .createKey)
        case .keyWrongCurve: row("an EC key on another curve than P-256", .createKey)
        case .keyIsSEC1:
            row(
                "an encrypted EC PRIVATE KEY (SEC1), but only PKCS#8 may be encrypted",
                "convert it to PKCS#8 with openssl pkcs8 -topk8")
        case .keyMalformed: row("the private key cannot be decoded", .copyKeyFile)
        case .keyNeedsPassphrase:
            row(
                "the key is encrypted and no passphrase is configured",
                "write \"passphrase_file\" or \"passphrase_credential\" under the key")
        case .keyWrongPassphrase:
            row("the passphrase does not open the key") {
                .say("try the passphrase by hand", see: $0.path.flatMap(ShellCommand.tryKey))
            }
        case .keyTooCostly:
            row("the key is encrypted with more iterations than are allowed") {
                .say($0.reencrypting, see: $0.converting(.fewerIterations))
            }
        case .keyChanged:
            row(
                "the file now holds a different key under the same key id: Apple knows only one of them, because it never reuses a key id",
                "restore the previous file, unless it was the wrong one; give a new key its own file name and key_id")
        case .passphraseUnusable:
            row(
                "the passphrase cannot be used",
                "write only the passphrase into that file, readable only by the daemon's user")
        case .credentialMissing:
            row("systemd does not pass this credential") {
                .say(
                    "add \(UnitFileLine.loadCredential($0.credential ?? "NAME", from: "/path/to/file")) to the daemon's unit and restart it"
                )
            }
        // Minting.
        case .signingFailed:
            row("the key did not sign", "restart the daemon; if it fails again, suspect this machine's OpenSSL")
        case .selfCheckFailed:
            row(
                "the new secret failed the check with the key's public half and was discarded",
                "restart the daemon; if it fails again, suspect this machine's memory or OpenSSL")
        // Paths and files.
        case .missing: row("there is no such file", nil)
        case .notGuarded: row("other users can read or replace it", nil)
        case .directoryMissing:
            row(
                "its directory does not exist", traits: [.holdsNoSecret, .mayBeOfSandbox],
                "create it, owned by the user that writes the file")
        case .notADirectory:
            row("part of its path is not a directory", traits: .leavesNothingToRead, "name another path")
        case .permissionDenied:
            row(
                "access is denied to the user that reads or writes it", retry: .whenChanged, traits: .mayBeOfSandbox
            ) {
                .say("see which part of the path is closed to that user", see: $0.path.flatMap(ShellCommand.listWay))
            }
        case .readOnlyFileSystem:
            row("the file system is read-only", traits: .mayBeOfSandbox) {
                .say(
                    "mount it writable, or add \(UnitFileLine.paths("ReadWritePaths", $0.directory)) to the daemon's unit"
                )
            }
        case .diskFull:
            row("the disk is full") { .freeSpace(in: $0.parent) }
        case .quotaExceeded:
            row("the disk quota is used up") { .freeSpace(in: $0.parent, orRaiseQuotaOf: "the daemon's user") }
        case .ioError: row("the disk or file server fails", .say("read the kernel's log", see: .kernelLog))
        case .isDirectory:
            row(
                "it is a directory, not a file", traits: .leavesNothingToRead,
                "name a file, or remove the directory if it is not needed")
        case .isMountPoint: row("a mount point, which cannot be replaced", "mount its directory instead")
        case .isImmutable:
            row(
                "it is immutable or append-only", retry: .whenChanged,
                "remove that attribute, if nothing else needs it")
        case .notARegularFile:
            row("not a regular file", traits: .leavesNothingToRead, "remove it, or name another path")
        case .outputIsInput:
            row(
                "the daemon reads this file, such as a key, so it is never written",
                "write another path for this output")
        case .sameFile:
            row(
                "it is the same file as another output", traits: .ofReader,
                "write one path for both, or another for this one")
        case .fileTooLarge:
            row(
                "the file is too large", traits: [.holdsNoSecret, .showsOthersContent],
                "shorten it, or name another path")
        case .foreignOwner:
            row(
                "the file belongs to another user and is not changed", retry: .whenChanged, traits: .showsOthersContent,
                "give it to the user that needs it, or name another path")
        case .untrustedLink:
            row(
                "a symbolic link in its path is not followed, because other users can change it", retry: .whenChanged,
                "remove the link, or write another path")
        case .unguardedDirectory:
            row(
                "other users may write to a directory in its path", retry: .whenChanged,
                "remove that permission, or write another path")
        case .tooManyLinks: row("too many symbolic links in its path", "write a shorter path, without links")
        case .unknownUser: row("there is no such user", "correct the name, or add the user")
        case .unknownGroup: row("there is no such group", traits: .mayBeOfSandbox, "correct the name, or add the group")
        case .groupNotPermitted:
            row(
                "the user that writes it may not give files to this group", traits: .mayBeOfSandbox,
                "add the daemon's user to that group and restart the daemon")
        case .attributesNotKept:
            row("the file's attributes could not be kept", "remove the attributes, or write to another file system")
        case .outsideSandbox: row("the unit's sandbox does not allow it", nil)
        case .unitCannotStart: row("its next start would fail", nil)
        case .unitMismatch: row("its settings do not match the configuration", nil)
        case .changedMeanwhile:
            row("another program changed it at the same time, again and again") {
                .say("find out which other program writes it", see: $0.parent.flatMap(ShellCommand.watch))
            }
        case .openForWriting:
            row(
                "another program has it open for writing, and after 10 minutes the daemon replaces the file",
                retry: .whenChanged
            ) {
                .say("let that program finish, or end it", see: $0.path.flatMap(ShellCommand.openers(of:)))
            }
        case .outputMalformed:
            row("its content cannot be read or edited safely", traits: .showsOthersContent, "correct that line")
        case .outputForeign:
            row(
                "the file holds other content, which is not overwritten",
                "write another path, or write the whole file with \"format: template\" and move this one away")
        case .nameTooLong: row("the path is too long", "write a shorter path, without links")
        case .outOfDescriptors:
            row("too many files are open", traits: [.ofReader, .ofLimit]) {
                (ProcessLimit(reached: $0.cause) ?? .descriptors).remedy(for: nil)
            }
        case .outOfMemory:
            row("out of memory", traits: [.ofReader, .ofLimit], ProcessLimit.memory.remedy(for: nil))
        case .outOfTasks:
            row(
                "no further thread or process can be started", traits: [.ofReader, .ofLimit],
                ProcessLimit.tasks.remedy(for: nil))
        case .notResponding: row("not responding", traits: .ofReader, "check whether it responds to other programs")
        case .systemError: row("the system refused", seeWhatLiesThere)
        case .outputDeleted:
            row(
                "the file was deleted with its other lines, and is not created again without them",
                "restore the file with its other lines; the secret is then added")
        case .outputEmptied:
            row(
                "the file was emptied of its other lines, and is not written without them", retry: .whenChanged,
                "restore its other lines; the secret is then added. If it is to hold only the secret, add a comment line"
            )
        case .contested:
            row("another program keeps changing it") {
                $0.path == nil
                    ? .say("find out which other program writes there")
                    : .say("find out which other program writes it", see: $0.parent.flatMap(ShellCommand.watch))
            }
        // User writers, which write other users' files.
        case .writerMissing:
            row("no writer can be reached for its user", traits: .mayBeOfSandbox, "have systemd start it for that user")
        case .writerNotPermitted:
            row(
                "the writer for its user takes no requests from this one",
                "run this as root or as the daemon's user, whom the writer's unit names")
        case .writerSilent:
            row(
                "the writer for its user did not answer",
                .say("read its log", see: .journal(of: "clientsecretd-writer@*")))
        case .writerGarbled:
            row(
                "the writer for its user gave an unreadable answer",
                .say("read its log", see: .journal(of: "clientsecretd-writer@*")))
        case .writerRefused: row("the writer for its user refuses", .say("reload it", run: .reload))
        case .writerUnconfigured:
            row(
                "the writer for its user cannot use the configuration",
                "let its user read the configuration, which belongs to root")
        // The state directory.
        case .stateUnusable:
            row(
                "the state directory cannot be used, so nothing is remembered over a reboot", traits: .mayBeOfSandbox,
                "name a directory that belongs to the daemon's user as \"state_dir\"")
        case .stateDamaged: row("a damaged record was set aside", nil)
        case .stateNewer: row("a record of a newer version was set aside", nil)
        case .stateLocked:
            row(
                "another daemon uses the state directory",
                "stop the other one, or give this one a \"state_dir\" of its own")
        // Actions.
        case .actionFailed: row("failed", retry: .sparingly, tryByHand)
        case .actionTimedOut:
            row("took longer than its timeout and was ended", "make it faster, or give it a longer \"timeout\"")
        case .actionNotStarted: row("could not be started", "see that it exists and that the daemon's user may run it")
        case .actionInterrupted: row("was ended because the daemon stopped", nil)
        // Requests to systemd about units.
        case .unitNotPermitted:
            row("the daemon's user may not do this", .say("add the polkit rule that is printed", see: .check))
        case .polkitMissing:
            row(
                "the daemon's user may not do this, and polkit is not installed",
                .say("apt-get install polkitd, and see which rule it needs", see: .check))
        case .polkitFailed:
            row(
                "polkit does not say whether the daemon's user may do this",
                .say("have it run, then check again", see: .status(of: "polkit.service")))
        case .unitUnknown:
            row("there is no such unit", .say("correct the unit's name, or see what there is", see: .listUnits))
        case .unitMasked:
            row("the unit is masked") {
                .say("unmask it, if it is meant to run", see: $0.unit.flatMap(ShellCommand.unmask))
            }
        case .unitRefused: row("systemd refused this", seeWhy)
        case .unitFailed:
            row("the unit is not running, and this does not start it") {
                .say("start it", run: $0.unit.flatMap(ShellCommand.start))
            }
        case .unitEnded: row("the unit ended or failed afterwards", retry: .sparingly, seeWhy)
        case .busUnreachable:
            row(
                "systemd cannot be asked over the bus",
                .say("see whether the bus runs", see: .status(of: "dbus.socket")))
        case .jobFailed: row("its job failed", retry: .sparingly, seeWhy)
        case .jobTimedOut: row("its job took too long", retry: .sparingly, seeWhy)
        case .jobCanceled: row("its job was canceled, or another took its place", retry: .sparingly, seeWhy)
        case .jobDependency:
            row("a unit that it needs failed", retry: .sparingly) {
                .say("see which", see: $0.unit.flatMap(ShellCommand.dependencies))
            }
        case .jobSkipped:
            row("systemd skipped its job, because the unit's state had changed", retry: .sparingly, seeWhy)
        // A client's health while no job has failed.
        case .noSecret: row("there is no usable secret") { .renew($0.client) }
        case .secretUnacceptable: row("holds a secret that Apple refuses") { .renew($0.client) }
        case .secretExpired: row("the secret has expired") { .renew($0.client) }
        case .secretExpiring: row("the secret expires soon") { .renew($0.client) }
        case .renewalOverdue:
            row("the secret should have been renewed by now") {
                CommandContext.current.hasDaemon ? .say("see why", see: .status) : .renew($0.client)
            }
        case .signatureUnchecked:
            row(
                "its signature was not checked, because this user may not read the key",
                .say("run this as root", see: .health(offline: true)))
        case .notReadable:
            row(
                "permission denied for this user", traits: .ofReader,
                .say("run this as root", see: .health(offline: false)))
        case .noOutputs: row("no file holds its secret, so only its record shows which one it is", nil)
        case .notChecked: row("not checked yet", "wait: the daemon reports what has not responded after 30 seconds")
        case .notPublished:
            row("the current secret is not in all of its outputs yet") {
                CommandContext.current.hasDaemon
                    ? .say("the daemon tries again; to do it now", see: .deliver($0.client)) : .deliver($0.client)
            }
        case .notDelivered:
            row("the current secret is published, but not all actions of on_change have run for it") {
                .deliver($0.client)
            }
        // Places from which clients without a private key receive their secrets.
        case .sourceStale:
            row("the source offers no newer secret") {
                .say(
                    "see whether the machine that renews it and what copies it here still work",
                    see: $0.path.flatMap(ShellCommand.list))
            }
        case .sourceWrong:
            row("the secret in the source is not accepted") {
                .say(
                    "see what was put there, and compare public_key with what \"clientsecretd public-key\" prints where the key is",
                    see: $0.path.flatMap(ShellCommand.inspect))
            }
        case .sourceMissing:
            row("there is no secret in the source") {
                .say("see whether what copies it here works", see: $0.path.flatMap(ShellCommand.list))
            }
        case .sourceUnreadable:
            row("the source cannot be read") {
                .say("let the daemon's user read it", see: $0.path.flatMap(ShellCommand.listWay))
            }
        // The store.
        case .storeUnconfigured:
            row(
                "the service that connects to the store does not have the daemon's store in its configuration",
                traits: .refusalOfStore,
                "write \"store\" with its \"endpoints\" in the configuration that the service reads, "
                    + "then reload the daemon")
        case .storeFileUnusable:
            row(
                "a file for the store cannot be used", traits: .refusalOfStore,
                .say("check that the service gets it", see: .cat(PackageUnit.store)))
        case .storeCredentialsRefused:
            row(
                "etcd refuses the user or its password", traits: .refusalOfStore,
                .say(
                    "give the user of \"store\" a password in etcd, write it into the password file, then reload",
                    see: .reloadUnit()))
        case .storeFileNotGuarded:
            row(
                "other users can change a file for the store", traits: .refusalOfStore,
                .say("see what 'check' says about the file, then reload", see: .check))
        case .storeUserMissing:
            row(
                "etcd requires a user, and \"store\" names none", traits: .refusalOfStore,
                .say(
                    "write \"user\" under \"store\", and the user's password into the password file, then reload",
                    see: .reloadUnit()))
        case .storeUserUnknown:
            row(
                "\"store\" names a user, and etcd has its authentication off", traits: .refusalOfStore,
                .say("run etcdctl auth enable, or remove \"user\" from \"store\", then reload", see: .reloadUnit()))
        case .storeCertificateRefused:
            row(
                "etcd refuses this machine's certificate", traits: .refusalOfStore,
                "create one that etcd's authority signs, that has no CN and that has not expired")
        case .storeCertificateExpiring:
            row(
                "this machine's certificate for etcd expires soon", traits: [.ofStore, .ofDaemonOnly],
                .say("replace it, then reload", see: .reloadUnit()))
        case .storeServerUntrusted:
            row(
                "the certificate of etcd is not trusted", traits: .refusalOfStore,
                "check this machine's clock, and that \"ca_file\" holds the authority that signed it for this address")
        case .storeForbidden:
            row(
                "the user's role in etcd does not allow it", traits: .refusalOfStore,
                "grant its role the keys that fleet-etcd.md lists")
        case .storeOutOfSpace:
            row(
                "etcd has reached its quota and refuses writes", traits: .refusalOfStore,
                .say("compact it, and disarm its alarm", see: .storeAlarms))
        case .storeUnreachable:
            row(
                "no member of the store can be reached", traits: .ofStore,
                "see whether etcd runs, and whether a firewall is in the way")
        case .storeTLSFailed:
            row(
                "the encrypted connection to the store fails", traits: .ofStore,
                "see whether \"endpoints\" name the port on which etcd serves clients with TLS 1.2 or later")
        case .storeTimedOut: row("the store did not answer in time", traits: .ofStore, "see whether etcd is overloaded")
        case .storeUnavailable:
            row(
                "the store has no leader, or cannot answer", traits: .ofStore,
                .say("check its members", see: .storeMembers))
        case .storeAnswerUnexpected:
            row(
                "this is not an answer from etcd's JSON gateway", traits: .ofStore,
                "see whether \"endpoints\" are etcd's, and whether its gateway is on")
        case .storeSecretTooLong: row("the secret is too long for the store", traits: .refusalOfStore, nil)
        case .storeMachineShared:
            row(
                "another machine reports under the same name", traits: [.ofStore, .ofDaemonOnly],
                "give each of them its own \"machine\" below \"store\" in the configuration")
        case .rolloutHeld:
            row("the rollout of its new secret is held") {
                .say(
                    "see whether machines fail with it; then resume or finish it",
                    see: $0.client.flatMap(ShellCommand.showRollout))
            }
        case .storeServiceMissing:
            row(
                "the service that asks the store cannot be reached",
                traits: [.refusalOfStore, .ofDaemonOnly],
                .run(.listen(PackageUnit.storeSocket), otherwise: "have clientsecretd-network listen for it"))
        case .storeServiceSilent:
            row(
                "the service that asks the store gave no answer that can be read", traits: [.ofStore, .ofDaemonOnly],
                .say("read its log", see: .journal(of: PackageUnit.store)))
        case .publicKeyUnusable:
            row(
                "\"public_key\" is not a P-256 key",
                "write what \"clientsecretd public-key\" prints on the machine that has the private key")
        // Apple's verdict on a new secret.
        case .refusedByApple:
            row("Apple refused the new secret", "compare the ids in the configuration with Apple's developer account")
        case .verdictUnknown:
            row(
                "Apple gave no clear answer about the new secret",
                .say(
                    "see whether this machine reaches Apple", see: .reachApple))
        case .verifierMissing:
            row(
                "the service that asks Apple about new secrets cannot be reached",
                .run(.listen(PackageUnit.verifierSocket), otherwise: "have clientsecretd-network listen for it"))
        case .verifierSilent:
            row(
                "the service that asks Apple about new secrets gave no answer that can be read",
                .say("read its log", see: .journal(of: "clientsecretd-verify@*")))
        // Places behind an API.
        case .pushUnconfigured:
            row(
                "the service that pushes cannot use its configuration", traits: .ofPushService,
                .say("correct what it reports", see: .check))
        case .pushTargetUnknown:
            row(
                "the configuration of the service that pushes does not have the daemon's target",
                traits: .ofPushService,
                "have the service read the configuration that the daemon reads")
        case .pushTokenUnusable:
            row(
                "the target's token cannot be used", traits: .ofPushService,
                "write only the token into its file, and name that in \"token_credential\" or \"token_file\"")
        case .pushFileUnusable:
            row(
                "the target's \"ca_file\" cannot be used", traits: .ofPushService,
                .say(
                    "name a file with certificates in PEM that the service which pushes may read, such as one below "
                        + "/etc/ssl with mode 0644"))
        case .pushFileNotGuarded:
            row(
                "other users can change the target's token or \"ca_file\"", traits: .ofPushService,
                .say("see what 'check' says about the file", see: .check))
        case .pushCredentialsRefused:
            row("the API refuses the token", "create a token with this permission, and replace the old one")
        case .pushClockRefused: row("the API refuses the request because of this machine's clock", .setClock)
        case .pushSecondFactorWanted:
            row(
                "the API requires a second factor of this user",
                "name a \"user\" without multi-factor authentication: a service cannot answer it")
        case .pushChangeRefused:
            row(
                "the API accepts the token and refuses this change",
                "do what its message says; the token may be allowed to read and not to write")
        case .pushPlaceMissing:
            row("the API knows no such place", "correct the target's settings, or create the place there")
        case .pushRateLimited: row("the rate limit for the API is reached", .wait)
        case .pushQuotaExceeded: row("a quota of the API is used up", "raise it there, or remove something there")
        case .pushServerFailed: row("the API reports a server error", .wait)
        case .pushUnreachable:
            row(
                "the API cannot be reached",
                "see whether this machine has a network, and whether a firewall or a proxy is in the way")
        case .pushTLSFailed:
            row(
                "the encrypted connection to the API fails",
                .say(
                    "see whether \(Self.addressSetting) names a port that serves TLS 1.2 or later and demands no client "
                        + "certificate, because clientsecretd has none"))
        case .pushTimedOut: row("the API did not answer in time", .wait)
        case .pushCertificateRefused:
            row(
                "the API's certificate is not trusted",
                "check this machine's clock and its ca-certificates, or name the API's authority in \"ca_file\"")
        case .pushRedirected:
            row(
                "the API redirects to another address, which is not followed",
                .say("see where it redirects to, and write that address as \(Self.addressSetting)"))
        case .pushConflict: row("another program keeps changing the place", "find out which other program writes there")
        case .pushRejected: row("the API rejected the request", "correct the target's settings; see its message")
        case .pushAnswerUnexpected:
            row(
                "this is not an answer from that API", .say("see whether \(Self.addressSetting) is the API's address"))
        case .pushStatusNotListed:
            row(
                "the API answers with a status of success that \"done\" does not list",
                "add the status to \"done\", if the API means by it that it has the secret")
        case .pushNotKept:
            row(
                "the API accepted the secret but still does not show it after five minutes", traits: .ofDaemonOnly,
                "find out which other program writes there, or why the API does not keep it")
        case .pushPlaceUnsuitable:
            row(
                "the place holds something that this target does not write, and is not changed",
                .say(
                    "change the target's settings to fit what is there, or name another place; if nothing needs what is "
                        + "there, replace it with a space"))
        case .pushOtherClient:
            row(
                "the place is set up for another client id, and is not changed",
                "correct the client id there, or the target's settings")
        case .pushSwitchedOff:
            row(
                "the place is switched off, so applications do not use the secret there", traits: .ofDaemonOnly,
                "switch it on there")
        case .pushImmutable:
            row("the Secret is immutable", "create it again without \"immutable: true\", or name another one")
        case .pushOthersBlank:
            row(
                "this version of PocketBase requires the secrets of all other providers with every change",
                "update PocketBase to 0.40.1 or later")
        case .pushEnvironmentsConflict:
            row(
                "the variable has a value for other environments too, and is not changed",
                .say(
                    "Vercel: remove it from these environments, or list the same ones in \"environments\"; Netlify: give "
                        + "each deploy context a value of its own"))
        case .pushDeploymentFailed: row("the new deployment failed", "see its log there")
        case .pushDeploymentCancelled:
            row(
                "the new deployment was cancelled",
                .say(
                    "let the project build it (Ignored Build Step, or ignore in netlify.toml), or see there who "
                        + "cancelled it"))
        case .pushDeploymentOutdated:
            row(
                "production serves an older deployment, which does not have the secret", traits: .ofDaemonOnly,
                "after a rollback, put a newer deployment into production there (promote or publish it)")
        case .pushServiceMissing:
            row("the service that pushes to it cannot be reached", traits: [.ofPushService, .ofDaemonOnly]) {
                .run(
                    $0.name.flatMap { .listen(PackageUnit.pusherSocket(of: $0)) },
                    otherwise: "have clientsecretd-network listen for it")
            }
        case .pushServiceSilent:
            row("the service that pushes to it gave no answer that can be read", traits: .ofDaemonOnly) {
                .say("read its log", see: $0.name.flatMap { .journal(of: PackageUnit.pusher(of: $0)) })
            }
        // The clock.
        case .clockBeforeBuild: row("shows a time before this program was built, so it is not trusted", .setClock)
        case .clockDoubtful:
            row("is not synchronised and is behind a secret that your key signed, so it is not trusted", .setClock)
        case .clockPerhapsAhead:
            row("is not synchronised and may be ahead, so no secret is replaced that may still be valid", .setClock)
        // The daemon itself.
        case .configurationRefused:
            row("the configuration would not start", .say("see everything that is wrong", see: .check))
        case .configurationNotAdopted:
            row(
                "the configuration is valid now, but the last good one from before the start is still current",
                .run(.reload, otherwise: "reload"))
        case .configurationNotKept:
            row(
                "root did not reload it, so a start with a broken configuration would use an older one",
                .run(.reload, otherwise: "reload as root"))
        case .socketUnusable:
            row(
                "the socket cannot be used",
                "remove the file there, or name another socket with --socket, and restart the daemon")
        case .credentialSocketUnusable:
            row(
                "the socket cannot be used, so no unit can load a credential from it",
                .say("let systemd create it", run: .passCredentialSocket))
        case .metricsFileUnwritable:
            row(
                "the metrics_file cannot be written, so node_exporter shows old metrics or none",
                .say("see what is missing", see: .check))
        case .noNotices:
            row(
                "all instances or watches are in use, so changes of files are noticed only once a minute",
                .say("raise the limits (for a container: on its host)", see: .raiseInotifyLimits))
        }
    }

    private struct Row {
        let words: String
        let retry: RetryKind
        let traits: FailureTraits
        let remedy: (FailureSubject) -> Remedy?
    }

    private func row(
        _ words: String, retry: RetryKind = .soon, traits: FailureTraits = [],
        _ remedy: @autoclosure @escaping () -> Remedy?
    ) -> Row {
        Row(words: words, retry: retry, traits: traits) { _ in remedy() }
    }

    /// A row whose remedy is advice for all failures of the code.
    private func row(
        _ words: String, retry: RetryKind = .soon, traits: FailureTraits = [], _ advice: String
    ) -> Row {
        row(words, retry: retry, traits: traits, .say(advice))
    }

    /// A row whose remedy names the failure's place or detail.
    private func row(
        _ words: String, retry: RetryKind = .soon, traits: FailureTraits = [],
        _ remedy: @escaping (FailureSubject) -> Remedy?
    ) -> Row {
        Row(words: words, retry: retry, traits: traits, remedy: remedy)
    }

    /// The setting of a target with the API's address.
    private static let addressSetting = "\"endpoint\" (\"url\" of an http target)"

    // Remedies of several rows, and those that depend on more than a name.

    private func seeWhy(_ subject: FailureSubject) -> Remedy {
        .say("see why", see: subject.unit.flatMap(ShellCommand.status(of:)))
    }

    /// For a failure of which only the error number is known.
    private func seeWhatLiesThere(_ subject: FailureSubject) -> Remedy {
        guard let path = subject.path else {
            return .say("see what came before it", see: .daemonsJournal)
        }
        return .say("check the path and its owners", see: .listWay(to: path))
    }

    /// A program can be tried by hand; for a unit, systemd shows why it failed.
    private func tryByHand(_ subject: FailureSubject) -> Remedy? {
        guard let words = subject.action?.split(separator: " ", maxSplits: 1) else { return nil }
        guard words.count == 2, words.first != "exec" else {
            return words.last.map {
                .say(
                    "read what it printed, or run it by hand as the daemon's user: \($0)",
                    see: .daemonsJournal)
            }
        }
        return seeWhy(subject)
    }
}

// Remedies of several rows.
extension Remedy {
    fileprivate static var copyKeyFile: Remedy { .say("copy the .p8 file again") }
    fileprivate static var nameKeyFile: Remedy { .say("name the .p8 file that Apple gave you") }
    fileprivate static var createKey: Remedy {
        .say("create a key for Sign in with Apple in Apple's developer account and name its .p8 file")
    }
    fileprivate static var setClock: Remedy { .say("set the clock, or see why it is not synchronised", see: .clock) }
    fileprivate static var wait: Remedy {
        .say(CommandContext.current.hasDaemon ? "wait: the daemon tries again" : "run this again later")
    }
}
