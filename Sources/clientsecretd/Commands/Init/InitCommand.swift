import AppleClientSecret
import ArgumentParser
import Failures
import Formats
import Glibc
import Linux
import Model

/// `init`: writes a first configuration or adds a client, with the files for the service and the secret's reader.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a first configuration, or add a client to one.",
        discussion: """
            Prompts for what the flags leave out. Without a terminal, pass all flags. Shows what it writes and runs \
            first, and keeps every file that exists. '--config -' prints the configuration and writes nothing. Ends with \
            what 'check' finds missing, and its exit status.

            '--from FILE' takes team, key id, client id, variable, format and owner from the Apple client secret in that \
            file, expired or not. It then asks only for the key and for what to restart. '--app PROGRAM' presets format, \
            variable and what to restart. If the configuration exists, '--name' adds a client in a drop-in file of its own.

            '--push KIND' sends the secret to an API, such as Supabase's or Vercel's. It writes the target, the token's \
            file, and the drop-in and socket of the service that pushes. '--set' names the target's settings.

            As root, it also sets up what the service needs: a copy of the key that the service can read, the lines that \
            its sandbox lacks, a drop-in for the unit that reads the secret, the directory, and the polkit rule. A file \
            that exists gets its missing lines at the end. '--now' enables and starts the service.

            Examples:
              clientsecretd init --from /srv/app/.env --now
              clientsecretd init --name shop --client-id com.example.shop \\
                  --output /run/clientsecretd/out/shop.jwt
            """)

    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var daemon: SocketOption

    @Option(
        help: .value("file", "The file with the client secret that the application reads now."),
        completion: .file(), transform: Flags.path)
    var from: AbsolutePath?

    @OptionGroup var signing: KeyOptions

    @OptionGroup var kind: KindOptions

    @Option(
        help: "The client's name (default: web). If the configuration exists, this client is added.",
        transform: Flags.clientName)
    var name: ClientName?

    @Option(help: .value("file", "Where the secret is written."), completion: .file(), transform: Flags.path)
    var output: AbsolutePath?

    @Option(help: "How the secret is written (default: as in the file, or raw).")
    var format: FormatOptions.Format?

    @Option(
        help: .value("name", "The variable that \(FormatOptions.Format.withVariable) sets."), transform: Flags.variable)
    var variable: String?

    @Option(name: .customLong("as"), help: .value("user", "The user who owns the file."), transform: Flags.account)
    var user: String?

    @Option(help: .value("group", "The group that may read the file."), transform: Flags.account)
    var group: String?

    @Option(
        help: .value("name", "The credential that the unit of --restart gets, instead of a file."),
        transform: Flags.credential)
    var credential: String?

    @OptionGroup var notified: InitUnitFlags

    @OptionGroup var pushed: InitTargetFlags

    @Option(help: .value("program", "The program that reads the secret: presets format, variable and what to restart."))
    var app: AppPreset?

    @Flag(help: "Also enable and start the service, and restart the unit of --restart if it is running.")
    var now = false

    @Flag(help: "Write without asking.")
    var yes = false

    /// The values of the flags, and of the program that one names.
    var given: InitAnswers {
        var answers = flags
        if let app { answers.adopt(app) }
        answers.adoptFormat()
        return answers
    }

    private var flags: InitAnswers {
        InitAnswers(
            key: signing.key, keyID: signing.keyID, team: signing.teamID, kind: kind.givenKind, client: kind.known,
            name: name, output: output, format: format, variable: variable, user: user, group: group,
            credential: credential, unit: notified.unit, verb: notified.verb, target: pushed.given
        )
    }

    mutating func validate() throws {
        try kind.validateKnown()
        var given = given
        // It chooses one of several in that file.
        if from != nil, output == nil, format == nil { given.variable = nil }
        try given.validate(canAsk: Self.dialog != nil || from != nil)
    }

    func run() throws {
        let path = settings.path()
        try checkNow(path)
        let place = try InitPlace(path, adding: name)
        if !place.isPrinted {
            // A configuration that was written for a mistyped key would have to be removed before the next try.
            if let key = signing.key?.description {
                try NamedKey.check(key, otherwise: "name Apple's key file with --key; nothing was written")
            }
            if let file = pushed.tokenFile?.description, let errno = FileStatus.problem(accessing: file, R_OK) {
                throw NamedFile.unreadable(file, "\(errno); name the file with --token-file; nothing was written")
            }
            _ = ServiceUser.unitsInEffect(at: path)
        }
        let dialog = Self.dialog
        let (answers, found) = try answers(for: place, dialog)
        var new = try answers.configuration(isOfService: place.isService)
        if let existing = place.existing { new = existing.naming(new) }
        let output: AbsolutePath? = if case .file(let file)? = new.destination { file.path } else { nil }
        try Self.checkSigner(of: new, in: [from, output].compactMap(\.self), place.existing, at: .now)
        if place.isPrinted { return try CommandOutput.answer(bytes: Array(place.file(for: new).lines.utf8)) }
        let plan = try InitPlan(for: new, token: answers.target?.typedToken, at: place, now: now)
        for line in plan.preview { CommandOutput.complain(lines: line) }
        if let dialog, !yes {
            guard try dialog.agrees() else { throw CommandFailure(.failed, "nothing was written") }
        }
        try plan.carryOut(
            // Not the program of the flag, which may not be used.
            change: NextSteps.change(from, found, to: new, answers.app) ?? NextSteps.restart(new, answers.app),
            socket: daemon.path())
    }

    /// The values from the flags, the file of `--from` and the person at the terminal.
    private func answers(for place: InitPlace, _ dialog: InitDialog?) throws -> (InitAnswers, FoundClient?) {
        var answers = flags
        var found: FoundClient?
        if let from {
            let secret = try InitSource(from, isOfService: place.isService)
            let one = try secret.client(variable: variable, client: kind.clientID, dialog)
            answers.adopt(one, in: from, of: secret.user)
            if answers.client == nil, let objection = one.objection {
                throw CommandFailure(.failed, "\(Printable.name(from.description)): \(objection)")
            }
            if case .unwritable(let line, let reason) = one.place, !answers.hasDestination, answers.target == nil {
                try explain(line, reason, in: from, dialog)
            }
            found = one
        }
        if let app, !answers.adopt(app) {
            CommandOutput.complain(
                lines:
                    "\(app.name): --app is not used: it is about a file with format: \(app.format), and the secret is "
                    + (answers.variable.map { "in the variable \(Printable.name($0))" }
                        ?? "in a file with format: \(answers.format?.name ?? FormatRegistry.standard.name)"))
        }
        answers.adoptFormat()
        if from == nil, app != nil { try answers.adoptOwner(isOfService: place.isService) }
        answers.target?.keepToken(in: place.file.directory, isWritten: !place.isPrinted)
        answers.existingKey = try place.existing?.key(for: answers)
        if let key = answers.existingKey, let path = answers.key, let file = place.existing?.file(of: key),
            path != file
        {
            CommandOutput.complain(
                lines: "\(Printable.name(path.description)): the configuration has this key as \"\(key)\", in "
                    + "\(Printable.name(file.description)), which is used")
        }
        // Before the question about the unit, because it describes that unit's task.
        if let app = answers.app, !place.isPrinted { CommandOutput.complain(lines: "\(app.name): \(app.hint)") }
        guard var dialog else { return (answers, found) }
        dialog.takesDefaults = yes
        let team = answers.team
        dialog.proposals = InitProposals(
            for: from, key: answers.keyID ?? answers.formerKeyID,
            except: { place.existing?.isOfAnotherTeam($0, than: team) == true }, OwnEnvironment.current)
        if let existing = place.existing { dialog.existingKey = existing.key(for:) }
        return (try dialog.complete(answers), found)
    }

    /// That the secret cannot be replaced in its place; at a terminal, another place is asked for next.
    private func explain(
        _ line: Int, _ reason: String, in file: AbsolutePath, _ dialog: InitDialog?
    ) throws(CommandFailure) {
        let words = "\(Printable.name(file.description)):\(line): init cannot use the secret here: \(reason)"
        guard let dialog else {
            throw CommandFailure(.failed, "\(words); name another file with --output, and let the application read it")
        }
        dialog.say(words)
    }

    /// Asks at the terminal; nil if no user would answer.
    private static var dialog: InitDialog? {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
        return InitDialog(
            ask: { question in
                _ = Descriptor.write(Array(Printable.line(question).utf8), to: STDERR_FILENO)
                return readLine()
            },
            say: { CommandOutput.complain(lines: $0) },
            askHidden: { String(decoding: UnechoedInput.line($0, longest: 16_384), as: UTF8.self) })
    }
}
