import AppleClientSecret
import ArgumentParser
import Config
import Failures
import Formats
import Linux
import Model

/// What `init` needs to know: by flags, or by answers at a terminal.
struct SetupAnswers {
    var key: AbsolutePath?
    var keyID: KeyID?
    var team: TeamID?
    var client: ClientID?
    var name: ClientName?
    var output: AbsolutePath?
    var format: FormOptions.Format?
    var variable: String?
    var user: String?
    var group: String?
    var credential: String?
    var unit: String?

    /// With the format that the output already has, where the flags name none; of an environment file also the variable, if
    /// exactly one holds an Apple client secret.
    func withFormatOfOutput() -> SetupAnswers {
        guard format == nil, let bytes = contentOfOutput, let found = FormatRegistry.guess(bytes) else { return self }
        var answers = self
        answers.format = FormOptions.Format(found)
        if found.name == FormatRegistry.environment.name, variable == nil {
            let holders = variablesWithSecret
            if holders.count == 1 { answers.variable = holders.first }
        }
        return answers
    }

    /// The variables of the output that hold a client secret already, expired or not.
    var variablesWithSecret: [String] { contentOfOutput.map(FormatRegistry.variablesWithSecret) ?? [] }

    private var contentOfOutput: [UInt8]? {
        guard let output, FileStatus.following(output.description)?.kind == .regular else { return nil }
        return try? NamedFile.read(output.description, limit: AtomicFile.sizeLimit)
    }

    /// Whether something says already where the secret is read.
    var hasDestination: Bool {
        output != nil || format != nil || variable != nil || user != nil || group != nil || credential != nil
    }

    /// What contradicts itself, whatever else is still to be said.
    ///
    /// - Parameter canAsk: whether a person is going to be asked for what other flags make necessary.
    func validate(canAsk: Bool = false) throws(ValidationError) {
        if !canAsk, let key, keyID == nil, let mistake = mistake({ _ = try Flags.keyID(nil, of: key) }) {
            throw mistake
        }
        if credential != nil, output != nil || format != nil || variable != nil || user != nil || group != nil {
            throw ValidationError(
                "--credential is read from no file; leave out --output, --format, --variable, --as and --group")
        }
        if user != nil, group != nil {
            throw ValidationError("--group is for the daemon's own files; a file written --as its user keeps its group")
        }
        let type = format?.type ?? FormatRegistry.standard
        if !canAsk, let setting = type.setting, variable == nil {
            throw ValidationError(
                "--format \(type.name) needs --\(setting.name), such as --\(setting.name) APPLE_CLIENT_SECRET")
        }
        if type.setting == nil, variable != nil {
            throw ValidationError("--variable belongs to \(FormOptions.Format.withVariable)")
        }
    }

    private func mistake(_ body: () throws -> Void) -> ValidationError? {
        do { try body() } catch { return ValidationError("\(error)") }
        return nil
    }

    /// The flags that are still needed.
    var missing: [String] {
        let isUnread = credential != nil && unit == nil
        let needed = [
            ("--key", key == nil), ("--team-id", team == nil), ("--client-id", client == nil),
            ("--output or --credential", output == nil && credential == nil), ("--restart", isUnread),
        ]
        return needed.filter(\.1).map(\.0)
    }

    /// Throws what is missing or wrong.
    func configuration() throws -> FirstConfiguration {
        try validate()
        guard missing.isEmpty, let key, let team, let client, let name = name ?? ClientName("web") else {
            throw CommandFailure(
                .usage, "there is no terminal to ask at; say also " + missing.joined(separator: ", "))
        }
        let id = try Flags.keyID(keyID, of: key)
        let destination: FirstConfiguration.Destination
        if let credential {
            destination = .credential(credential)
        } else if let output {
            destination = .file(
                FirstConfiguration.OutputFile(
                    path: output, format: (format?.type ?? FormatRegistry.standard).name, variable: variable,
                    user: user,
                    group: group))
        } else {
            throw CommandFailure(.usage, "say where the secret is read, with --output or --credential")
        }
        return FirstConfiguration(
            team: team, keyID: KeyID(fileName: key.name) == id ? nil : id, key: key, name: name, client: client,
            destination: destination, unit: unit)
    }
}

/// Asks a person for what the flags have not said.
///
/// The rules:
/// - An answer that cannot be used is asked for again, with the reason.
/// - An empty answer takes what is offered in brackets.
/// - What may be left out is asked only where the flags do not say where the secret is read; but how it is written, always:
///   a program that expects a variable or JSON would not find the secret in a file that holds nothing else.
struct SetupDialog {
    /// Shows a question and returns a line; nil at the end of the input.
    let ask: (String) -> String?
    /// Shows a line.
    let say: (String) -> Void

    /// The places where applications read a secret, as the menu shows them.
    private enum Place {
        case environmentFile
        case dotenv
        case credential
        /// A file that needs no setting besides.
        case file(any OutputFormat.Type)

        static var all: [Place] {
            [.environmentFile, .dotenv, .credential] + FormatRegistry.all.filter { $0.setting == nil }.map(Place.file)
        }

        var words: String {
            switch self {
            case .environmentFile: "a variable, by an environment file that its unit reads (EnvironmentFile=)"
            case .dotenv: "a variable, in a dotenv file of its own, such as /srv/app/.env"
            case .credential: "a credential of its unit (LoadCredential=)"
            case .file(let format): "a file with \(format.words)"
            }
        }
    }

    func complete(_ given: SetupAnswers) throws -> SetupAnswers {
        var answers = given
        if answers.key == nil {
            answers.key = try answer("The key file from Apple (AuthKey_<KEYID>.p8)") { text in
                let path = try Flags.path(text)
                guard FileStatus.following(path.description)?.kind == .regular else {
                    throw ValidationError("there is no such file")
                }
                return path
            }
        }
        if let key = answers.key, answers.keyID == nil, KeyID(fileName: key.name) == nil {
            say("Its name is not AuthKey_<KEYID>.p8, as Apple gives it.")
            answers.keyID = try answer("The key's id", Flags.keyID)
        }
        if answers.team == nil { answers.team = try answer("The team's id, such as DEF123GHIJ", Flags.team) }
        if answers.client == nil {
            answers.client = try answer("The Services ID or App ID, such as com.example.web", Flags.clientID)
        }
        if !answers.hasDestination {
            try askForPlace(&answers)
        } else if answers.credential == nil {
            if answers.output == nil { answers.output = try answer("The file", Flags.path) }
            if answers.format == nil { answers.format = try askForFormat() }
            if answers.format?.type.setting != nil, answers.variable == nil { try askForVariable(&answers) }
        } else if answers.unit == nil {
            answers.unit = try answer("The unit that reads it, such as myapp.service", Flags.unit)
        }
        return answers
    }

    private func askForPlace(_ answers: inout SetupAnswers) throws {
        let place = try choice("Where does the application read the secret?", Place.all.map { ($0.words, $0) })
        let name = answers.name?.description ?? "web"
        switch place {
        case .environmentFile:
            answers.format = FormOptions.Format(FormatRegistry.environment)
            try askForVariable(&answers)
            answers.output = try answer("The file", offering: "/run/clientsecretd/out/\(name).env", Flags.path)
        case .dotenv:
            answers.output = try answer("The file", Flags.path)
            answers.format = FormOptions.Format(FormatRegistry.environment)
            try askForVariable(&answers)
            let owner = answers.output.flatMap { Self.owner(of: $0) }
            answers.user = try answer("The user whose file it is", offering: owner) { text in
                let name = try Flags.account(text)
                guard (try? Accounts.userID(name)).flatMap({ $0 }) != nil else {
                    throw ValidationError("there is no such user")
                }
                return name
            }
        case .credential:
            answers.credential = try answer("The credential's name", offering: "apple-client-secret", Flags.credential)
            if answers.unit == nil {
                answers.unit = try answer("The unit that reads it, such as myapp.service", Flags.unit)
            }
        case .file(let format):
            answers.format = FormOptions.Format(format)
            answers.group = try optional("The group that reads it", none: "root and the daemon alone") { text in
                let name = try Flags.account(text)
                guard (try? Accounts.groupID(name)).flatMap({ $0 }) != nil else {
                    throw ValidationError("there is no such group")
                }
                return name
            }
            let directory = answers.group == nil ? "out" : name
            let ending = format.name == FormatRegistry.standard.name ? "jwt" : format.name
            answers.output = try answer(
                "The file", offering: "/run/clientsecretd/\(directory)/\(name).\(ending)", Flags.path)
        }
        if answers.unit == nil {
            answers.unit = try optional("The unit that reads it, to be restarted after each renewal", Flags.unit)
        }
    }

    private func askForFormat() throws -> FormOptions.Format {
        try choice(
            "How does the application read the secret there?",
            FormOptions.Format.all.map { ($0.words, FormOptions.Format($0)) })
    }

    private func askForVariable(_ answers: inout SetupAnswers) throws {
        // Another name would leave the application with the secret that it has, be that an expired one.
        let holders = answers.variablesWithSecret
        if holders.count > 1 { say("  It holds client secrets in \(holders.joined(separator: ", ")).") }
        answers.variable = try answer(
            "The variable", offering: holders.first ?? "APPLE_CLIENT_SECRET", Flags.variable)
    }

    /// Whether to write; anything but yes or no is asked again.
    func agrees() throws -> Bool {
        try answer("Write this? (yes or no)") { text in
            switch text.lowercased() {
            case "yes", "y": true
            case "no", "n": false
            default: throw ValidationError("say yes or no")
            }
        }
    }

    /// Shows a menu and offers its first line.
    private func choice<Value>(_ question: String, _ choices: [(words: String, value: Value)]) throws -> Value {
        say(question)
        for (index, choice) in choices.enumerated() { say("  \(index + 1)  \(choice.words)") }
        return try answer("One of these", offering: "1") { text in
            guard let number = Int(text), (1...choices.count).contains(number) else {
                throw ValidationError("it is a number from 1 to \(choices.count)")
            }
            return choices[number - 1].value
        }
    }

    private func answer<Value>(
        _ question: String, offering offer: String? = nil, _ parse: (String) throws -> Value
    ) throws -> Value {
        while true {
            guard let line = ask(question + (offer.map { " [\($0)]" } ?? "") + ": ") else {
                throw CommandFailure(.failed, "the answers ended; nothing is written")
            }
            let text = String(line.trimming { $0 == " " || $0 == "\t" })
            do {
                return try parse(text.isEmpty ? offer ?? "" : text)
            } catch let mistake as ValidationError {
                say("  " + mistake.message)
            }
        }
    }

    /// - Parameter none: what an empty answer means.
    private func optional<Value>(
        _ question: String, none: String = "none", _ parse: (String) throws -> Value
    ) throws -> Value? {
        try answer(question + " (empty: \(none))") { $0.isEmpty ? nil : try parse($0) }
    }

    /// Who has the file, or will, as the directory's owner.
    private static func owner(of path: AbsolutePath) -> String? {
        let status = FileStatus.following(path.description) ?? FileStatus.following(path.directory.description)
        return status.flatMap { try? Accounts.user(id: $0.owner) }?.name
    }
}
