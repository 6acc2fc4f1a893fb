import AppleClientSecret
import Daemon
import Failures
import Formats
import Model

/// Facts about the client of an Apple client secret in a file, as `init --from` finds them. Whether it has expired does not
/// matter.
struct FoundClient: Equatable {
    /// The place in the file at which a new secret replaces this one.
    enum Place: Equatable {
        /// The file is the secret, in this format.
        case whole(format: String)
        case variable(String)
        /// No format can replace it there.
        case unwritable(line: Int, reason: String)
    }

    let place: Place
    let team: TeamID?
    let keyID: KeyID?
    /// With its origins as browsers send them, which is how the configuration takes them; nil if it has no usable one.
    let client: ClientID?
    private let kind: TokenKind
    let fingerprint: Fingerprint
    let expiresAt: WallTime?

    private init(_ secret: ForeignSecret, at place: Place) {
        self.place = place
        team = secret.stated.issuer.value.flatMap { TeamID($0) }
        keyID = secret.stated.keyID.value.flatMap { KeyID($0) }
        client = secret.stated.clientOfPages
        kind = secret.stated.kind
        fingerprint = secret.fingerprint
        expiresAt = secret.expiresAt
    }

    var variable: String? {
        if case .variable(let name) = place { name } else { nil }
    }

    /// Why the configuration cannot restrict the tokens as this one is, and what to do; nil if it can. A client id that is missing
    /// is asked for.
    var objection: String? {
        guard client == nil, !kind.hasClient else { return nil }
        let isScoped = !kind.rules.scopes.isEmpty
        return "the \(kind.rules.words) in it states an origin\(isScoped ? " or a scope" : "") that is not valid; "
            + "write the right one with --kind \(kind) and --origin\(isScoped ? " or --scope" : "")"
    }

    /// All client secrets between which only the user can choose; of one client's several in text, the one that expires last.
    ///
    /// - Parameters:
    ///   - file: its name, which tells the syntax of some files.
    ///   - variable: the only one that is looked at; nil: all.
    ///   - client: the one whose secrets are meant, if it has any there: the id in a secret may be wrong. Nil: all.
    static func all(
        in bytes: [UInt8], of file: String, variable: String? = nil, client: ClientID? = nil
    ) -> [FoundClient] {
        func wanted(_ found: [FoundClient]) -> [FoundClient] {
            guard let client else { return found }
            let ofClient = found.filter { $0.client == client }
            return ofClient.isEmpty ? found : ofClient
        }
        let assigned = wanted(assigned(in: bytes, of: file, variable))
        if !assigned.isEmpty || variable != nil { return assigned }
        if let whole = whole(bytes) { return [whole] }
        let reason = ApprovedFile(name(of: file), bytes)?.reason ?? otherText
        let secrets = ForeignSecret.all(in: bytes).map { secret in
            FoundClient(secret, at: .unwritable(line: line(at: secret.offset, in: bytes), reason: reason))
        }
        return Dictionary(grouping: wanted(secrets), by: \.client).values.compactMap { ofOne in
            ofOne.max { ($0.expiresAt?.secondsSinceEpoch ?? .min) < ($1.expiresAt?.secondsSinceEpoch ?? .min) }
        }.sorted { ($0.client?.description ?? "") < ($1.client?.description ?? "") }
    }

    // MARK: Environment files

    private static let otherText = "it is in text where clientsecretd cannot replace it"

    /// More would not help in choosing, and each is costly: the file is parsed for it.
    private static let mostVariables = 20

    /// The last assignment of each variable that holds one, in the order of their names.
    private static func assigned(in bytes: [UInt8], of file: String, _ variable: String?) -> [FoundClient] {
        let format = FormatRegistry.environment.init(parameter: nil)
        let name = name(of: file)
        guard !NonEnvironmentFile.isLikely(name), NonEnvironmentFile.reason(name, bytes) == nil,
            ApprovedFile(name, bytes) == nil, format.mayReplace(bytes)
        else { return [] }
        var secrets: [String: ForeignSecret] = [:]
        for assignment in FoundAssignment.all(in: bytes) where variable == nil || assignment.name == variable {
            guard secrets[assignment.name] != nil || secrets.count < mostVariables,
                let secret = ForeignSecret(assignment.value)
            else { continue }
            secrets[assignment.name] = secret
        }
        return secrets.sorted { $0.key < $1.key }.map { name, secret -> FoundClient in
            do throws(FormatError) {
                let errors = try format.editErrors(in: bytes, at: [.variable(name)])
                if let error = errors.values.first { throw error }
                return FoundClient(secret, at: .variable(name))
            } catch {
                return FoundClient(secret, at: .unwritable(line: error.line, reason: error.reason))
            }
        }
    }

    private static func name(of file: String) -> String { String(file.split(separator: "/").last ?? "") }

    // MARK: Whole files

    private static func whole(_ bytes: [UInt8]) -> FoundClient? {
        guard let format = FormatRegistry.guess(bytes), format.setting == nil,
            case .bytes(let token)? = try? FormatRegistry.candidate(in: bytes, at: .whole),
            let secret = ForeignSecret(token.trimming(while: \.isASCIISpace))
        else { return nil }
        guard format.init(parameter: nil).mayReplace(bytes) else {
            return FoundClient(secret, at: .unwritable(line: 1, reason: otherText))
        }
        return FoundClient(secret, at: .whole(format: format.name))
    }

    private static func line(at offset: Int, in bytes: [UInt8]) -> Int {
        1 + bytes[..<offset].count { $0 == UInt8(ascii: "\n") }
    }
}

extension FoundClient {
    /// Why a file has nothing to begin with.
    static func missing(in bytes: [UInt8], of file: String, variable: String?) -> CommandFailure {
        let name = Printable.name(file)
        if let variable {
            return CommandFailure(
                .failed, "\(name): \(variable) holds no Apple client secret; leave out --variable, or name another one")
        }
        let isKey = bytes.firstOffset(of: Array("PRIVATE KEY-----".utf8)) != nil
        let help =
            isKey
            ? "it holds a private key: name it with --key"
            : "for the first one, name the file with --output, not with --from"
        return CommandFailure(.failed, "\(name): there is no Apple client secret in it; \(help)")
    }

    /// Why nothing was chosen without asking.
    static func ambiguous(_ found: [FoundClient], in file: String) -> CommandFailure {
        let variables = found.compactMap(\.variable)
        let clients = found.compactMap { $0.client?.description }
        let (what, flag) = variables.isEmpty ? (clients, "--client-id") : (variables, "--variable")
        return CommandFailure(
            .usage,
            "\(Printable.name(file)) holds several Apple client secrets, in \(what.joined(separator: ", ")); "
                + "choose one with \(flag)")
    }
}
