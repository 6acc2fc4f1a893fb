import AppleClientSecret
import Failures
import Linux
import Model
import Outputs
import Systemd

/// A service that takes secrets from the daemon when it starts, by `LoadCredential=` or `EnvironmentFile=`. Checks whether its
/// settings and the configuration name the same ones. If they differ, its next start fails or gives it no secret. Until then
/// nothing shows that: the running service has the secret it was started with.
package struct SecretReader: Sendable {
    /// Its own name.
    let name: String
    /// Also the other names that the configuration uses for it.
    var names: Set<String>
    let settings: UnitSettings
    /// Where the daemon serves secrets as credentials.
    private let socket: String

    /// The file into which `init` writes the lines that a unit needs.
    package static let dropInName = "clientsecretd.conf"

    /// - Parameter socket: nil: where the package's units have it.
    init(_ name: String, _ settings: UnitSettings, socket: String? = nil) {
        self.name = name
        self.settings = settings
        self.socket = socket ?? UnitFileLine.credentialSocket
        names = Set([name, UnitTemplate.name(of: name)].compactMap(\.self))
    }

    // MARK: Differences

    /// The failures of this unit, and whether its next start fails.
    func problems(in configuration: Configuration) -> (failures: [Failure], preventStart: Bool) {
        let credentials = problemsWithCredentials(in: configuration)
        let files = problemsWithFiles(in: configuration)
        return (
            credentials.failures + files.failures, credentials.preventStart || files.preventStart
        )
    }

    private func problemsWithCredentials(
        in configuration: Configuration
    ) -> (failures: [Failure], preventStart: Bool) {
        var clients: [String: ClientName] = [:]
        for (client, settings) in configuration.clients {
            guard let credential = settings.credential, names.contains(credential.unit) else { continue }
            clients[credential.name] = client
        }
        let given = Set(clients.keys)
        let asked = settings.credentials(from: socket)
        let refused = asked.filter { !given.contains($0) }
        let notLoaded = given.filter { !settings.loads($0) }.sorted()
        // A credential that has another name now is one difference, with one remedy.
        if let former = refused.first, let new = notLoaded.first, refused.count == 1, notLoaded.count == 1 {
            let place = place(of: "LoadCredential", former + ":")
            let failure = failure(
                "it loads the credential \(Printable.name(former))\(place), which no client gives it, and not "
                    + "\(Printable.name(new))",
                .say("replace that line with \(line(new)), then \(readAgain)"))
            return ([failure], true)
        }
        let failures =
            refused.map { credential in
                let line = place(of: "LoadCredential", credential + ":")
                return failure(
                    "it loads the credential \(Printable.name(credential))\(line), which no client gives it, so its next "
                        + "start fails",
                    .say(
                        "remove that line, then \(readAgain); or write \"credential: {unit: \(Printable.name(name)), name: "
                            + "\(Printable.name(credential))}\" under a client"))
            }
            + notLoaded.map { self.failure(notLoading: $0, of: clients[$0]) }
            + given.sorted().compactMap { self.failure(takingElsewhere: $0, of: clients[$0]) }
        return (failures, !refused.isEmpty)
    }

    private func failure(notLoading credential: String, of client: ClientName?) -> Failure {
        let removed = settings.removedCredentials.first { $0.name == credential }
        let why = removed.map { "\(Printable.name($0.file)) removes it" } ?? "it has no LoadCredential= of that name"
        return failure(
            "it does not load the credential \(Printable.name(credential)): \(why)",
            removed.map { .say(UnitInEffect.advice(for: name, [$0]) + ", or publish it as a file") }
                ?? adding(line(credential), of: client))
    }

    /// The unit has a credential of that name that the daemon does not serve.
    private func failure(takingElsewhere credential: String, of client: ClientName?) -> Failure? {
        guard let source = settings.source(of: credential), !isDaemon(source) else { return nil }
        let found = settings.place(of: credential, by: source.setting)
        let place = found.map { " (\(Printable.name($0.file)):\($0.line))" } ?? ""
        let from = source.path.map { $0.hasPrefix("/") ? "from \(Printable.name($0)), " : "from systemd, " } ?? ""
        return failure(
            "it takes the credential \(Printable.name(credential)) \(from)by \(source.setting)=\(place), and not from the daemon",
            isReplacedByDropIn(source, found?.file)
                ? adding(line(credential), of: client)
                : .say("replace that line with \(line(credential)), then \(readAgain)"))
    }

    private func isDaemon(_ source: UnitSettings.CredentialSource) -> Bool {
        source.setting == "LoadCredential" && source.path.map { RealPath.of($0) == RealPath.of(socket) } == true
    }

    /// Whether `LoadCredential=` in the drop-in to which commands add takes the place of this: the last of several lines that load
    /// the credential counts.
    private func isReplacedByDropIn(_ source: UnitSettings.CredentialSource, _ file: String?) -> Bool {
        guard source.setting.hasPrefix("Load") else { return true }
        guard let file else { return false }
        let dropIn = ShellCommand.outputsFile(of: name).path
        return file == settings.ownFile || RealPath.name(of: file) < RealPath.name(of: dropIn) || file == dropIn
    }

    private func line(_ credential: String) -> String { UnitFileLine.loadCredential(credential, from: socket) }

    private func adding(_ line: String, of client: ClientName?) -> Remedy {
        let words = "write \(line) into its [Service] section"
        return client.flatMap { ShellCommand.addSettings([line], toReader: name, of: $0.description) }
            .map { .say(words, run: $0) } ?? .say("\(words), then \(readAgain)")
    }

    /// The place of a setting with a text, in words; empty for a line with specifiers, which is not found.
    private func place(of setting: String, _ text: String) -> String {
        settings.place(of: setting, containing: text).map { " (\(Printable.name($0.file)):\($0.line))" } ?? ""
    }

    /// Environment files that the daemon wrote for it once, and writes no more.
    private func problemsWithFiles(in configuration: Configuration) -> (failures: [Failure], preventStart: Bool) {
        let former = settings.environmentFileItems.filter { isFormer($0.name, in: configuration) }
        let failures = former.map { file in
            let place = place(of: "EnvironmentFile", file.name)
            let end = file.isOptional ? "" : ", and does not start once that file is gone"
            return failure(
                "it reads \(Printable.name(file.name))\(place), which is no output\(end)",
                .say(
                    replacement(in: configuration).map { "replace that line with \($0), then \(readAgain)" }
                        ?? "remove that line, then \(readAgain); or add an output with that path"))
        }
        return (failures, former.contains { !$0.isOptional && FileStatus.isAbsent($0.name) })
    }

    /// Whether an environment file is one that only the daemon writes, and no output.
    func isFormer(_ pattern: String, in configuration: Configuration) -> Bool {
        guard isOfDaemon(pattern) else { return false }
        func isOutput(_ isSame: (AbsolutePath) -> Bool) -> Bool {
            configuration.clients.values.contains { $0.outputs.contains { isSame($0.path) } }
        }
        // By its text first: a thousand units may each read an output, and to resolve the paths of all for each takes minutes.
        if let path = AbsolutePath(pattern), isOutput({ $0 == path }) { return false }
        return !isOutput { UnitSettings.environmentFile(pattern, names: $0.description) }
    }

    /// Whether only the daemon writes an environment file: it is in the daemon's directory, or `init` has named it. A person may
    /// name other files in the same drop-in.
    private func isOfDaemon(_ pattern: String) -> Bool {
        if RealPath.isAt(pattern, orBelow: OutputRemedy.ownDirectory) { return true }
        let dropIn = settings.place(of: "EnvironmentFile", containing: pattern)?.file
        guard dropIn.map(RealPath.name(of:)) == Self.dropInName else { return false }
        guard let owner = FileStatus.following(pattern)?.owner else { return FileStatus.isAbsent(pattern) }
        return owner == (try? ServiceUnit.daemonAccount())?.id
    }

    /// The line for the output that the unit is meant to read; nil if none is, or there are several.
    func replacement(in configuration: Configuration) -> String? {
        let clients = configuration.clients.values.filter { client in
            client.onChange.contains { $0.reader.map(names.contains) == true }
        }
        let outputs = Set(clients.flatMap(\.outputs).filter { $0.slot.variable != nil }.map(\.path.description))
        let unread = outputs.filter { !settings.reads(environmentFile: $0) }
        return unread.count == 1 ? unread.first.map(UnitFileLine.environmentFile) : nil
    }

    private func failure(_ detail: String, _ remedy: Remedy) -> Failure {
        Failure(.unitMismatch, at: .named(name), detail: detail, remedy: remedy)
    }

    /// In this order: the unit does not start with a secret that the daemon does not give it yet.
    private var readAgain: String {
        "run systemctl daemon-reload and clientsecretd reload, and restart \(Printable.name(name))"
    }
}
