import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Digest
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
        help: .value("file", "A file with the secret, JSON or variables; '-' is standard input."), completion: .file())
    var file: String

    @OptionGroup var named: VariableOption

    @Option(
        help: .value("file", "A PEM file with a private or public key, to check whether it signed the secret."),
        completion: .file())
    var key: String?

    @OptionGroup var answer: JSONFlag

    func run() throws {
        let publicKey = try key.map(NamedKey.publicKey)
        let secret = try FoundSecret(in: file, variable: named.variable)
        let isFile = file != NamedFile.standardInput
        let (refusalOfIds, clockFailure) = Self.judge(
            secret, in: isFile ? file : nil, key: publicKey)
        let inspection = InspectionReport(
            secret.jws, fingerprint: Token(secret.token).fingerprint,
            signatureVerified: publicKey.map { $0.verifies(secret.jws) },
            keyFileID: key.flatMap { KeyID(fileName: String($0.split(separator: "/").last ?? "")) },
            refusalOfIds: refusalOfIds, clockFailure: clockFailure, now: .now)
        try answer.show(inspection.json, or: inspection.lines)
        if !inspection.isGood { throw CommandFailure(.failed, "") }
    }

    /// Conflicts between this machine's configuration and the secret's ids, as far as this user may read it and the keys. Also
    /// why this machine's clock cannot judge it.
    private static func judge(
        _ secret: FoundSecret, in file: String?, key: PublicKey?
    ) -> (refusalOfIds: Objection?, clockFailure: Failure?) {
        let path = ConfigurationOption.path(flag: nil)
        let source = ConfigurationSource.ofService(path)
        let loaded = (try? Hardening.forbidInspection()).flatMap { try? source.load().get() }
        let clockFailure = OfflineEvaluation.clockFailure(for: secret.token, key: key, by: loaded, from: source)
        guard let loaded else { return (nil, clockFailure) }
        let output = file.flatMap { ConfigurationLoader.absolutePath(of: $0) }.map { ($0, secret.variable) }
        return (OfflineEvaluation.refusal(ofIdsOf: secret.token, in: output, by: loaded, from: source), clockFailure)
    }
}
