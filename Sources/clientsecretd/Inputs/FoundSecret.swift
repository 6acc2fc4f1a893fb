import AppleClientSecret
import Daemon
import Formats
import Linux
import Model
import Outputs

/// The secret in a file that the caller names, as the whole text, in JSON or in a variable.
struct FoundSecret {
    /// The file's name, shown in a message.
    let name: String
    /// Nil if no variable holds it.
    let variable: String?
    let token: [UInt8]
    let jws: CompactJWS

    /// - Parameter variable: the one that a flag names.
    init(in file: String, variable named: String?) throws(CommandFailure) {
        let bytes = try NamedFile.read(file, limit: OutputLimits.fileSize)
        name = NamedFile.shown(file)
        variable = try Self.variable(named, in: bytes, of: name)
        token = try Self.token(in: bytes, of: name, variable: variable)
        do throws(CompactJWS.ParseError) {
            jws = try CompactJWS(token)
        } catch {
            let isAssignment = variable == nil && bytes.contains(UInt8(ascii: "="))
            let help = isAssignment ? "; for an environment file, name the variable with --variable" : ""
            throw CommandFailure(.failed, "\(name): this is not a client secret: \(error.words)\(help)")
        }
    }

    /// The variable that was named, else the only one of an environment file that holds a token, or a token for Apple. Nil if none
    /// does. If there are several, the user must choose.
    static func variable(
        _ named: String?, in bytes: [UInt8], of name: String
    ) throws(CommandFailure) -> String? {
        if let named { return named }
        let holders = FoundAssignment.all(in: bytes).filter { (try? CompactJWS($0.value)) != nil }
        let all = Set(holders.map(\.name))
        let forApple = Set(holders.filter { ForeignSecret($0.value) != nil }.map(\.name))
        guard let only = forApple.count == 1 ? forApple.first : all.first else { return nil }
        guard forApple.count == 1 || all.count == 1 else {
            let names = (forApple.isEmpty ? all : forApple).sorted().joined(separator: ", ")
            throw CommandFailure(
                .failed, "\(name): several variables hold a token; choose one with --variable: \(names)")
        }
        return only
    }

    /// The token's bytes: the content of its place in a file of some format.
    static func token(in bytes: [UInt8], of name: String, variable: String?) throws(CommandFailure) -> [UInt8] {
        guard !PrivateKeyText.isIn(bytes) || variable != nil else {
            throw CommandFailure(
                .failed,
                "\(name): this is a private key, not a client secret; to make a secret: clientsecretd mint --key ...")
        }
        let candidate: SecretCandidate
        do throws(FormatError) {
            candidate = try FormatRegistry.candidate(in: bytes, at: FileSlot(variable: variable))
        } catch {
            throw CommandFailure(.failed, "\(name):\(error.line): \(error.reason)")
        }
        switch candidate {
        case .bytes(let token): return token
        case .missing(let reason): throw CommandFailure(.failed, "\(name): \(reason)")
        }
    }
}
