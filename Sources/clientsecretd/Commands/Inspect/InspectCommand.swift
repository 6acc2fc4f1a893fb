import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Digest
import Failures
import Formats
import Keys
import Linux
import Model

/// `inspect`: explains a secret.
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Explain a secret: its claims, its remaining life, its key.",
        discussion: """
            Exits 1 if Apple would refuse the secret, or the key did not sign it.

            Examples:
              clientsecretd inspect /run/clientsecretd/out/web.jwt
              clientsecretd inspect .env
            """)

    @Argument(
        help: ArgumentHelp(
            "A file with the secret, JSON or variables; '-' is standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @OptionGroup var named: VariableOption

    @Option(
        help: ArgumentHelp(
            "A PEM file with a private or public key, to check whether it signed the secret.", valueName: "file"),
        completion: .file())
    var key: String?

    @OptionGroup var answer: JSONFlag

    func run() throws {
        let publicKey = try key.map(NamedKey.publicKey)
        let bytes = try NamedFile.read(file, limit: AtomicFile.sizeLimit)
        let name = NamedFile.shown(file)
        let variable = try FoundSecret.variable(named.variable, in: bytes, of: name)
        let token = try FoundSecret.token(in: bytes, of: name, variable: variable)
        let jws: CompactJWS
        do throws(CompactJWS.ParseError) {
            jws = try CompactJWS(token)
        } catch {
            let isAssignment = variable == nil && bytes.contains(UInt8(ascii: "="))
            let help = isAssignment ? "; for an environment file, name the variable with --variable" : ""
            throw CommandFailure(.failed, "\(name): this is not a client secret: \(error.words)\(help)")
        }
        let isFile = file != NamedFile.standardInput
        let (refusalOfIds, clockFailure) = Self.judge(
            token, in: isFile ? file : nil, variable: variable, key: publicKey)
        let inspection = InspectionReport(
            jws, fingerprint: Token(token).fingerprint,
            signatureVerified: publicKey.map { $0.verifies(jws) },
            keyFileID: key.flatMap { KeyID(fileName: String($0.split(separator: "/").last ?? "")) },
            refusalOfIds: refusalOfIds, clockFailure: clockFailure, now: .now)
        try answer.show(inspection.json, or: inspection.lines)
        if !inspection.isGood { throw CommandFailure(.failed, "") }
    }

    /// What this machine's configuration has against the secret's ids, as far as this user may read it and the keys; and why
    /// this machine's clock cannot judge it.
    private static func judge(
        _ token: [UInt8], in file: String?, variable: String?, key: PublicKey?
    ) -> (refusalOfIds: Objection?, clockFailure: Failure?) {
        let path = ConfigurationOption.path(flag: nil, Environment.current)
        let source = ConfigurationSource.ofService(path)
        let loaded = (try? Hardening.forbidInspection()).flatMap { try? source.load().get() }
        let clockFailure = OfflineEvaluation.clockFailure(for: token, key: key, by: loaded, from: source)
        guard let loaded else { return (nil, clockFailure) }
        let output = file.flatMap { ConfigurationLoader.absolutePath(of: $0) }.map { ($0, variable) }
        return (OfflineEvaluation.refusal(ofIdsOf: token, in: output, by: loaded, from: source), clockFailure)
    }
}

/// Finds the secret in what a file holds.
enum FoundSecret {
    /// The variable that was named, else the only one of an environment file that holds a token, or a token for Apple; nil
    /// where none does. Which of several is meant has to be said.
    static func variable(
        _ named: String?, in bytes: [UInt8], of name: String
    ) throws(CommandFailure) -> String? {
        if let named { return named }
        let holders = FoundAssignment.all(in: bytes).filter { (try? CompactJWS($0.value)) != nil }
        let all = Set(holders.map(\.name))
        let forApple = Set(holders.filter { AppleSecret($0.value) != nil }.map(\.name))
        guard let only = forApple.count == 1 ? forApple.first : all.first else { return nil }
        guard forApple.count == 1 || all.count == 1 else {
            let names = (forApple.isEmpty ? all : forApple).sorted().joined(separator: ", ")
            throw CommandFailure(
                .failed, "\(name): several variables hold a token; choose one with --variable: \(names)")
        }
        return only
    }

    /// The token's bytes: what is in its place in a file of some format.
    static func token(in bytes: [UInt8], of name: String, variable: String?) throws(CommandFailure) -> [UInt8] {
        guard !PrivateKeyText.isIn(bytes) || variable != nil else {
            throw CommandFailure(
                .failed,
                "\(name): this is a private key, not a client secret; to make a secret: clientsecretd mint --key ...")
        }
        let candidate: SecretCandidate
        do throws(FormatError) {
            candidate = try FormatRegistry.candidate(in: bytes, at: Slot(variable: variable))
        } catch {
            throw CommandFailure(.failed, "\(name):\(error.line): \(error.reason)")
        }
        switch candidate {
        case .bytes(let token): return token
        case .missing(let reason): throw CommandFailure(.failed, "\(name): \(reason)")
        }
    }
}
