import AppleClientSecret
import ArgumentParser
import Config
import Failures
import Formats
import Glibc
import Linux
import Model
import Outputs

/// Asks a person for the values that the flags leave out.
///
/// The rules:
/// - An answer that cannot be used is asked for again, with the reason.
/// - An empty answer accepts the text in brackets.
/// - Optional values are asked for only if the flags do not name the secret's place. The format is always asked for. A program
///   that expects a variable or JSON would not find the secret in a file that holds nothing else.
struct InitDialog {
    /// Shows a question and returns a line; nil at the end of the input.
    let ask: (String) -> String?
    /// Shows a line.
    let say: (String) -> Void
    /// Shows a question and returns the typed text, which is not shown.
    var askHidden: (String) -> String? = { _ in nil }
    /// Whether a target's settings that have a default are not asked for.
    var takesDefaults = false
    /// The offers if nothing else is known.
    var proposals = InitProposals()
    /// The configuration's key that the answers name; nil if they name another. Throws if the teams differ.
    var existingKey: (InitAnswers) throws(CommandFailure) -> KeyName? = { _ in nil }

    /// The places from which applications read a secret, as the menu shows them.
    private enum Place {
        case environmentFile
        case dotenv
        case credential
        /// A file that needs no other setting.
        case file(any OutputFormat.Type)

        static var all: [Place] {
            [.environmentFile, .dotenv, .credential] + FormatRegistry.all.filter { $0.setting == nil }.map(Place.file)
        }

        var words: String {
            switch self {
            case .environmentFile: "as a variable, from an environment file of its unit (EnvironmentFile=)"
            case .dotenv: "as a variable, from its own dotenv file, such as /srv/app/.env"
            case .credential: "as a credential of its unit (LoadCredential=)"
            case .file(let format): "from a file with \(format.words)"
            }
        }
    }

    func complete(_ given: InitAnswers) throws -> InitAnswers {
        var answers = given
        if answers.key == nil, answers.existingKey == nil {
            let offer = proposals.key?.description
            answers.key = try answer("The key file from Apple (AuthKey_<KEYID>.p8)", offering: offer) { text in
                if text.isEmpty { throw ValidationError(Self.originOfKeys) }
                let path = try Self.file(text)
                do throws(CommandFailure) {
                    try NamedKey.check(path.description, otherwise: "write the path of Apple's .p8 file")
                    var named = answers
                    named.key = path
                    answers.existingKey = try existingKey(named)
                } catch {
                    throw ValidationError(error.message)
                }
                return path
            }
        }
        if let key = answers.key, answers.existingKey == nil,
            (answers.keyID ?? answers.formerKeyID ?? KeyID(fileName: key.name)) == nil
        {
            say("Its name is not AuthKey_<KEYID>.p8, so it does not show the key id.")
            answers.keyID = try answer("The key's id", Flags.keyID)
        }
        if answers.team == nil, answers.existingKey == nil {
            answers.team = try answer("The team's id, such as DEF123GHIJ", Flags.team)
        }
        if answers.client == nil {
            let kind = answers.kind ?? .signIn
            let question =
                kind == .appleAds
                ? "The client id of Apple Ads, SEARCHADS. and an id"
                : "The Services ID or App ID, such as com.example.web"
            answers.client = try answer(question) { text in
                let client = try Flags.clientID(text)
                guard client.kind == kind else { throw ValidationError(KindMisfit.clientID(client, kind).words) }
                return client
            }
        }
        if let target = answers.target {
            answers.target = try complete(target)
            if !answers.hasDestination { return answers }
        }
        // A flag for another format counts.
        if let app = answers.app, answers.output == nil, (answers.format?.name ?? app.format) == app.format {
            let type = FormatRegistry.named(app.format) ?? FormatRegistry.standard
            try ask(for: app.variable == nil ? .file(type) : .dotenv, &answers)
            return answers
        }
        if !answers.hasDestination {
            try ask(
                for: choice("How does the application get the secret?", Place.all.map { ($0.words, $0) }), &answers)
        } else if answers.credential == nil {
            if answers.output == nil { answers.output = try answer("The file", Self.absolutePath) }
            if answers.format == nil { answers.format = try askForFormat() }
            if answers.format?.type.setting != nil, answers.variable == nil { try askForVariable(&answers) }
        } else if answers.unit == nil {
            answers.unit = try askForReader()
        }
        if answers.isFromFile || answers.app != nil, answers.unit == nil {
            answers.unit = try askForUnit(answers)
        }
        return answers
    }

    /// Which of several secrets in a file the application reads.
    func choose(from found: [FoundClient]) throws -> FoundClient {
        try choice(
            "Which client secret does the application read?",
            found.map { one in
                let client = one.client?.description ?? "a client without a usable id"
                return ([one.variable, client].compactMap(\.self).joined(separator: ", for "), one)
            })
    }

    private static let originOfKeys =
        "write the path of the .p8 file, such as /root/AuthKey_ABC123DEFG.p8. Apple offers it once, when you create a key: "
        + "https://developer.apple.com/account, Keys. If it is lost, create a second key there"

    /// A file that this user can read.
    static func file(_ text: String) throws -> AbsolutePath {
        let path = try Flags.path(text)
        let name = Printable.name(path.description)
        guard let kind = FileStatus.following(path.description)?.kind else {
            throw ValidationError("\(name): there is no such file")
        }
        guard kind == .regular else { throw ValidationError("\(name): this is not a file") }
        if let errno = FileStatus.problem(accessing: path.description, R_OK) {
            throw ValidationError("\(name) cannot be read: \(errno)")
        }
        return path
    }

    /// A file to write. A word such as "yes", the answer to another question, would else name a file of the current directory.
    private static func absolutePath(_ text: String) throws -> AbsolutePath {
        guard text.hasPrefix("/") else { throw ValidationError("write an absolute path, such as /srv/app/.env") }
        return try Flags.path(text)
    }

    /// A user or a group of this machine.
    private static func account(_ text: String, _ kind: String, _ id: (String) throws -> UInt32?) throws -> String {
        let name = try Flags.account(text)
        guard (try? id(name)) != nil else { throw ValidationError("there is no such \(kind)") }
        return name
    }

    /// The unit that gets a credential.
    private func askForReader() throws -> String {
        try answer("The unit that reads it, such as myapp.service", offering: proposals.unit(nil), Flags.unit)
    }

    private func askForUnit(_ answers: InitAnswers) throws -> String? {
        let verb = answers.verb ?? .restart
        // It reads the file again by itself.
        if let app = answers.app, app.verb == nil, answers.verb == nil { return nil }
        let offer = verb == .start ? nil : proposals.unit(answers.output)
        let what =
            switch verb {
            case .restart where answers.app == nil && offer == nil:
                "The unit that reads it, to restart after each renewal"
            case .start: "The oneshot unit to start after each renewal"
            case .restart, .reload, .reloadOrRestart: "The unit to \(verb.rawValue) after each renewal"
            }
        if verb == .start, let app = answers.app, let runs = app.runs {
            let none = app.alternative.map { "none, as \($0)" } ?? "none, the app keeps the old secret"
            return try optional("The systemd unit that runs \"\(runs)\" (see \(app.page))", none: none, Flags.unit)
        }
        guard let offer else { return try optional(what, Flags.unit) }
        return try answer("\(what), or none", offering: offer) { Self.isNone($0) ? nil : try Flags.unit($0) }
    }

    private func ask(for place: Place, _ answers: inout InitAnswers) throws {
        let name = answers.name?.description ?? "web"
        switch place {
        case .environmentFile:
            answers.format = FormatOptions.Format(FormatRegistry.environment)
            try askForVariable(&answers)
            answers.output = try answer(
                "The file", offering: "\(OutputRemedy.ownDirectory)/\(name).env", Self.absolutePath)
        case .dotenv:
            answers.output = try answer("The file", Self.absolutePath)
            answers.format = FormatOptions.Format(FormatRegistry.environment)
            if answers.variable == nil { try askForVariable(&answers) }
            let owner = answers.output.flatMap { Self.owner(of: $0) }
            answers.user = try answer("The user who owns the file", offering: owner) { text in
                try Self.account(text, "user", Accounts.userID)
            }
        case .credential:
            answers.credential = try answer("The credential's name", offering: "apple-client-secret", Flags.credential)
            if answers.unit == nil { answers.unit = try askForReader() }
        case .file(let format):
            answers.format = FormatOptions.Format(format)
            if answers.group == nil {
                answers.group = try optional("The group that reads it", none: "only root and the daemon") { text in
                    try Self.account(text, "group", Accounts.groupID)
                }
            }
            let directory = answers.group == nil ? "out" : name
            let ending = format.name == FormatRegistry.standard.name ? "jwt" : format.name
            let file = answers.app?.file ?? "\(name).\(ending)"
            answers.output = try answer(
                "The file", offering: "/run/clientsecretd/\(directory)/\(file)", Self.absolutePath)
        }
        if answers.unit == nil { answers.unit = try askForUnit(answers) }
    }

    private func askForFormat() throws -> FormatOptions.Format {
        try choice(
            "How does the application read the secret from the file?",
            FormatOptions.Format.choices.map { ($0.type.words, $0) })
    }

    private func askForVariable(_ answers: inout InitAnswers) throws {
        // Another name would leave the application with the secret that it has, even if that has expired.
        let holders = answers.variablesWithSecret
        if holders.count > 1 { say("  It holds client secrets in \(holders.joined(separator: ", ")).") }
        answers.variable = try answer(
            "The variable", offering: holders.first ?? "APPLE_CLIENT_SECRET", Flags.variable)
    }

    /// Whether to write; anything but yes or no is asked again.
    func agrees() throws -> Bool {
        try answer("Write this? (yes or no)", Self.isYes)
    }

    static func isYes(_ text: String) throws -> Bool {
        switch text.lowercased() {
        case "yes", "y": true
        case "no", "n": false
        default: throw ValidationError("answer yes or no")
        }
    }

    /// Shows a menu and offers its first line.
    private func choice<Value>(_ question: String, _ choices: [(words: String, value: Value)]) throws -> Value {
        say(question)
        for (index, choice) in choices.enumerated() { say("  \(index + 1)  \(choice.words)") }
        return try answer("Choose one", offering: "1") { text in
            guard let number = Int(text), (1...choices.count).contains(number) else {
                throw ValidationError("enter a number from 1 to \(choices.count)")
            }
            return choices[number - 1].value
        }
    }

    func answer<Value>(
        _ question: String, offering offer: String? = nil, _ parse: (String) throws -> Value
    ) throws -> Value {
        while true {
            guard let line = ask(question + (offer.map { " [\($0)]" } ?? "") + ": ") else {
                throw CommandFailure(.failed, "input ended; nothing was written")
            }
            let text = String(line.trimming { $0 == " " || $0 == "\t" })
            do {
                return try parse(text.isEmpty ? offer ?? "" : text)
            } catch let problem as ValidationError {
                say("  " + problem.message)
            }
        }
    }

    /// - Parameter none: the meaning of an empty answer.
    func optional<Value>(
        _ question: String, none: String = "none", _ parse: (String) throws -> Value
    ) throws -> Value? {
        try answer(question + " (empty: \(none))") { Self.isNone($0) ? nil : try parse($0) }
    }

    /// The prompt says "none", so it is taken as it says.
    private static func isNone(_ text: String) -> Bool { text.isEmpty || text.lowercased() == "none" }

    /// The owner of the file, or the directory's owner, which will own it.
    private static func owner(of path: AbsolutePath) -> String? {
        let status = FileStatus.following(path.description) ?? FileStatus.following(path.directory.description)
        return status.flatMap { try? Accounts.user(id: $0.owner) }?.name
    }
}
