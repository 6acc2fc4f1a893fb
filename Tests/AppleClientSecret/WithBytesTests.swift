import Foundation
import TestSupport
import Testing

/// The places that can see a secret's bytes are few, and known.
@Suite struct WithBytesTests {
    /// Who may call `withBytes`, and what for.
    private static let allowed = [
        "AppleClientSecret/Token.swift",  // where it stands
        "Daemon/CredentialConnection.swift",  // sends them to systemd for a unit
        "Daemon/SecretCache.swift",  // knows secrets again by their bytes, so that hooks' output can be redacted
        "Keys/TokenReader.swift",  // judges them
        "Outputs/FileFormat.swift",  // writes them into outputs
        "Outputs/Publisher.swift",  // gives them to the environment editor
        "Outputs/RecordDocument.swift",  // writes them into the state directory
        "UserWriter/WireToken.swift",  // takes them to the writer of another user, and what was read back from there
    ]

    @Test func onlyTheseFilesSeeASecretsBytes() throws {
        let sources = URL(fileURLWithPath: repository + "/Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var callers: [String] = []
        var looked = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            looked += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains("withBytes") else { continue }
            callers.append(String(file.path.dropFirst(sources.path.count + 1)))
        }
        #expect(looked > 50)
        #expect(callers.sorted() == Self.allowed)
    }
}
