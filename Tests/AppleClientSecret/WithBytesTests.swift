import Foundation
import TestSupport
import Testing

/// The places that can see a secret's bytes are few, and known.
@Suite struct WithBytesTests {
    /// Who may call `withBytes`, and what for.
    private static let allowed = [
        "AppleAPI/VerificationRequest.swift",  // makes them the form for Apple's token endpoint
        "AppleClientSecret/Token.swift",  // where it stands
        "Daemon/Credentials/CredentialConnection.swift",  // sends them to systemd for a unit
        "Daemon/Executor/SecretCache+Redaction.swift",  // knows secrets again by their bytes in hooks' output
        "Digest/Token+JSON.swift",  // writes them into messages and records
        "Keys/Verifying/TokenReader.swift",  // judges them
        "Outputs/OutputMerge.swift",  // gives them to the output formats
        "Push/PushExchange.swift",  // makes them requests to an API
        "State/RecordDocument.swift",  // looks whether they are those of a token
        "clientsecretd/Commands/Apple/PublishedSecret.swift",  // reads its claims
        "clientsecretd/Commands/Apple/TokenRequest.swift",  // gives them to the program that asks Apple
        "clientsecretd/Commands/MintCommand.swift",  // prints one
    ]

    @Test func onlyTheseFilesSeeASecretsBytes() throws {
        let sources = URL(fileURLWithPath: repository + "/Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var callers: [String] = []
        var searched = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            searched += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains("withBytes") else { continue }
            callers.append(String(file.path.dropFirst(sources.path.count + 1)))
        }
        #expect(searched > 50)
        #expect(callers.sorted() == Self.allowed)
    }
}
