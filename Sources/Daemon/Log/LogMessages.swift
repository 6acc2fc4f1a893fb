import Config
import Failures
import Linux
import Model
import Rotation

/// A line of the log. Only the rows of this file make one, so that no call can log a free string.
struct LogLine: Sendable {
    /// The journal's `MESSAGE_ID`: the kind of event. Programs that read the journal use it.
    let id: String
    let priority: Priority
    /// One line, or several where they list errors of the configuration.
    let words: String
    /// Built only if the journal takes them. Clients come last, because thousands of them may not all fit (``Journal``).
    let fields: @Sendable () -> [JournalField]

    fileprivate init(
        _ id: String, _ priority: Priority, _ words: String,
        _ fields: @autoclosure @escaping @Sendable () -> [JournalField] = []
    ) {
        self.id = id
        self.priority = priority
        self.words = words
        self.fields = fields
    }

    /// By the numbers of syslog(3).
    enum Priority: Int, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
    }
}

/// Every kind of line in the daemon's log is a row here: message id, priority, words and fields. The core's events come first,
/// the daemon's own below.
///
/// systemd/clientsecretd.catalog explains each message id. Never change one: people and programs search by them.
extension LogEvent {
    /// The event as a line of the log.
    ///
    /// - Parameter clients: those that share the event's resource, where the event names none itself.
    func line(clients: [ClientName] = []) -> LogLine {
        switch self {
        case .minted(let client, let secret, let reason):
            LogLine(
                "ef8d0d3f90c641cbb91272e381f9d145", .info,
                "\(client): minted \(secret.fingerprint), valid until \(secret.expiresAt), \(reason.words)",
                JournalField.secret(client, secret))
        case .tookOver(let client, let secret):
            LogLine(
                "38f41d1b5f3c4dfc9ba331624dedbb3c", .info,
                "\(client): took over \(secret.fingerprint), valid until \(secret.expiresAt)",
                JournalField.secret(client, secret))
        case .received(let client, let secret):
            LogLine(
                "d4c0a1f6e2b84d7f9a35c61be07f2a94", .info,
                "\(client): received \(secret.fingerprint), valid until \(secret.expiresAt)",
                JournalField.secret(client, secret))
        case .accepted(let client, let secret):
            LogLine(
                "6b0d3c5f9e1a4d7d8c24a5f0e7b1936d", .info, "\(client): Apple accepts \(secret.fingerprint)",
                JournalField.secret(client, secret))
        case .publishedUnverified(let client, let secret):
            LogLine(
                "d94a1e7725c84f0fb3680cfa1d2e5b89", .warning,
                "\(client): \(secret.fingerprint) replaces the previous secret, which cannot be kept longer, although "
                    + "Apple has not accepted it",
                JournalField.secret(client, secret))
        case .published(let path, let secrets):
            LogLine(
                "79e6f0bd724341cf9ec566fa15cd0afb", .info, "wrote \(path): \(Self.list(secrets))",
                [.path(path)] + JournalField.secrets(secrets))
        case .wroteOverWriter(let path):
            LogLine(
                "0f6b2e94d1c84a37b5e9d3087ac1f256", .warning,
                "replaced \(path), which another program has had open for writing for 10 minutes: what that program writes "
                    + "from now on is lost until it opens the file again", [.path(path)])
        case .pushed(let target, let client, let secret, let verified):
            LogLine(
                "5c8e0b7d14f94f6a9c1f3d62e7ab9058", .info,
                "\(client): pushed \(secret.fingerprint) to target \(target)"
                    + (verified.map { $0 ? "" : ", which does not show it yet" }
                        ?? ", which does not show what it holds"),
                [.target(target)] + JournalField.secret(client, secret))
        case .shared(let client, let secret):
            LogLine(
                "2f9d6c41a7be4c0e8b35e1d0946f7ca2", .info, "\(client): put \(secret.fingerprint) into the store",
                JournalField.secret(client, secret))
        case .ran(let action, let secrets):
            LogLine(
                "f7e75fc7121f4cb8b7e9dac2644e69b6", .info, "done: \(action): \(Self.list(secrets))",
                [.action(action)] + JournalField.secrets(secrets))
        case .asked(let request, let requester):
            LogLine(
                "c0d52fbdeee2429085c6fda287bd99ac", .info, "\(requester.words) asked to \(request.words)",
                requester.fields + request.clients.map(JournalField.client))
        case .served(let credential, let client, let secret):
            LogLine(
                "9cefed270c2540689712c4bae808eb7c", .info,
                "\(client): gave \(secret.fingerprint) to \(credential.unit) as credential \"\(credential.name)\"",
                JournalField.secret(client, secret) + [.unit(credential.unit)])
        case .notServed(let problem):
            LogLine("e87ef9e771164ae29a55acc435f8cfdc", .warning, problem.sentence, problem.fields)
        case .failing(let resource, let failure, let failures, let retryAt):
            LogLine(
                "5db99b2769554bec8aaa776afa7fddf0", .error,
                resource.prefix + failure.sentence + (failures > 1 ? "; failed \(failures) times" : "")
                    + (retryAt.map { "; next attempt \($0)" } ?? ""),
                [.code(failure.code)] + resource.fields(of: clients))
        case .recovered(let resource, let failure):
            LogLine(
                "7221d604c093424a81dce7d9064efbab", .notice,
                resource.prefix + "works again; it was: " + failure.message,
                [.code(failure.code)] + resource.fields(of: clients))
        case .health(let client, let health, let reason):
            LogLine(
                "5a9834a94c4743beb1fcac65e487d765",
                health == .ok ? .notice : health == .degraded ? .warning : .error,
                "\(client): \(health.rawValue)" + (reason.map { ": " + $0.failure.sentence } ?? ""),
                [.client(client), .state(health)] + (reason.map { [.code($0.failure.code)] } ?? []))
        case .configured(let count):
            LogLine(
                "c87055c8673a43d29afeb9703af84e92", .notice,
                "configuration loaded, \(count) client\(count == 1 ? "" : "s")")
        case .refused(let lines):
            LogLine(
                "f3473223dd754c84913da56eabe2a59c", .error,
                "the configuration was refused; the previous one stays current:\n" + lines.joined(separator: "\n"))
        case .wouldNotStart(let lines):
            LogLine(
                "1635b704aff64dbbb870e7fef1e103d6", .error,
                "the daemon would not start with this configuration; the previous one stays current:\n"
                    + lines.joined(separator: "\n"))
        case .startedAsBefore(let lines):
            LogLine(
                "d71b43052d984573914f5a89ed7ceb05", .error,
                "the configuration would not start, so the last good one is current: no action runs, and "
                    + "only secrets that become critical are renewed; fix it and reload:\n"
                    + lines.joined(separator: "\n"))
        case .passes:
            LogLine(
                "b41a56015dc24cda9170ea267cb17763", .notice,
                "the daemon would start with the current file")
        case .keyChanged(let key, let change):
            LogLine(
                "1240f13238da4c178fd7f2176a15f851", .error, change.failure(of: key).sentence,
                change.fields(of: clients))
        case .keyRestored(let key, let change):
            LogLine(
                "1a524942e04a47919978041ae33aea44", .notice,
                "key \"\(key)\": the previous key is back under \(change.keyID): \(change.from.fingerprint)",
                change.fields(of: clients))
        case .clockDistrusted(let failure):
            LogLine("840dce6bbce640d39e69444f9413caa6", .error, failure.sentence, [.code(failure.code)])
        case .clockTrusted:
            LogLine("9ad34088d8c3424ba02d02be072ee8fd", .notice, "the clock is trusted again")
        case .ready:
            LogLine("219130a66d594e308a2fa2930d2f8b2a", .notice, "every client was tried once")
        case .faultRaised(let failure):
            LogLine("4a5bfbd456814cce93ea390dc91d1057", .error, failure.sentence, failure.fields)
        case .faultCleared(let failure):
            LogLine(
                "c2bee2f37f034687a00c98610192e19d", .notice, "works again; it was: " + failure.message, failure.fields)
        case .orphaned(let orphan):
            LogLine("3a7e308e3ca54c299f719652540dc2e4", .warning, orphan.sentence, [orphan.place.field])
        case .ranStateChangeAction(let action):
            LogLine(
                "b22a9f809e4b4c5e8be8da15451b8ff6", .info, "done, because the state changed: \(action)",
                [.action(action)])
        }
    }

    private static func list(_ secrets: [ClientName: SecretInfo]) -> String {
        secrets.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.fingerprint)" }.joined(separator: ", ")
    }
}

/// The daemon's log lines in addition to the core's events. They are about its start and end, its own files and sockets, the
/// service manager and the log itself.
extension LogLine {
    /// The daemon does not start; one event for each error of the configuration.
    static func startRefused(_ problem: StartProblem) -> LogLine {
        LogLine("a09dc216c73442eb821468a7fba80453", .error, problem.words, problem.fields)
    }

    static func configurationWarning(_ diagnostic: Diagnostic) -> LogLine {
        LogLine("250f56ea56fa4e788da9b93bebc2ef82", .warning, diagnostic.description, diagnostic.fields)
    }

    /// Keys are kept in memory that is swapped and dumped like any other.
    static var noSecureMemory: LogLine {
        LogLine(
            "5f2994e1dedb4aff8f1b50e273d61383", .warning,
            "could not set apart memory for keys; they are in ordinary memory")
    }

    /// The state directory was removed, emptied or replaced while it was in use.
    static func stateLost(_ path: AbsolutePath) -> LogLine {
        LogLine(
            "b8ae49a5721f418da513e48d57fa118d", .warning,
            "\(path): the state directory was removed, emptied or replaced while it was in use; it is opened again and "
                + "everything is written to it again", [.path(path)])
    }

    /// systemd passed a socket of a name that means nothing here.
    static func socketIgnored(name: String) -> LogLine {
        LogLine(
            "dbe7b62e5a0a422d844c233877540db4", .warning,
            "the daemon does not use the socket \(name) that systemd passed; check FileDescriptorName= of its unit")
    }

    /// A start with a configuration that is refused will not find the present one.
    static func configurationNotKept(_ failure: Failure) -> LogLine {
        LogLine(
            "cc8c5ddc6a5b417eb762d0be905b9b60", .warning,
            "could not save the fallback copy of the configuration: \(failure.sentence)", failure.fields)
    }

    /// A record of the state directory could not be read and was set aside; without a client it is that of
    /// `on_state_change`.
    static func recordSetAside(_ client: ClientName?, _ failure: Failure) -> LogLine {
        LogLine(
            "6c6e6820a9bb4b26ae4f5b2abe0ded88", .warning,
            (client.map { "\($0): " } ?? "") + failure.sentence,
            failure.fields + (client.map { [.client($0)] } ?? []))
    }

    /// The credential socket could not accept a connection.
    static func acceptFailed(_ failure: Failure) -> LogLine {
        LogLine("b9ea5b8a53b74ee29d73838065ad2d1d", .error, failure.sentence, failure.fields)
    }

    /// The credential socket is no longer served.
    static func credentialsLost(_ failure: Failure) -> LogLine {
        LogLine("0917c526967041cbaf2a812daf8ea62e", .error, failure.sentence, failure.fields)
    }

    /// A stop did not wait any longer for so many jobs.
    static func stoppedEarly(jobs: Int) -> LogLine {
        LogLine(
            "3589111bddde4c56a35ede88e56d583c", .warning,
            "stopped although \(jobs) jobs had not ended; the next start continues")
    }

    /// The last write of `metrics_file` failed.
    static func metricsNotWritten(_ failure: Failure) -> LogLine {
        LogLine("9bf3eafb5cad4c98a761e27496e5837e", .error, failure.sentence, failure.fields)
    }

    /// `run --once` could not bring a client up to date.
    static func leftUndone(_ client: ClientName, _ health: HealthState, _ failure: Failure?) -> LogLine {
        LogLine(
            "b6353ea8aa6442c18ae5ffe2094dae7f", .error, "\(client): \(failure?.sentence ?? health.rawValue)",
            [.client(client), .state(health)] + (failure.map { [.code($0.code)] } ?? []))
    }

    static func managerUnreachable(_ error: SystemError) -> LogLine {
        LogLine(
            "074d9169c3ab44eeb1489dffe179e2ed", .warning, "the service manager cannot be notified: \(error)")
    }

    /// Units run with less protection than they ship with; the words name them and the difference.
    static func sandboxWeakened(_ words: String) -> LogLine {
        LogLine("8d1c6a52f0b74e39a7d4e61f92c35b08", .warning, words)
    }

    /// A hook printed a line, already free of secrets.
    static func hookPrinted(_ action: ActionID, _ line: String) -> LogLine {
        LogLine(
            "cc0c79d73e93441b92fd0b57350d7adb", .info, "\(action): \(Printable.quoted(line))", [.action(action)])
    }

    /// So many events were dropped because the log was not read in time.
    static func linesLost(_ count: Int) -> LogLine {
        LogLine(
            "402ff492ed60402d826b771b8e4b6774", .warning,
            "\(count) log events before the last one are lost: the journal did not take them in time")
    }
}

extension Resource {
    /// The subject of a log line, where the failure's sentence does not name it.
    var prefix: String {
        switch self {
        case .client, .verification, .record, .source, .share, .rollout: client.map { "\($0): " } ?? ""
        case .key(let name): "key \(name): "
        case .stateChangeAction: "on_state_change: "
        case .report: "this machine's report: "
        case .fleet: "the machines' reports: "
        case .store, .configuration, .file, .target, .action, .probe, .state, .metricsFile: ""
        }
    }
}
