import AppleClientSecret
import Model
import TestSupport
import Testing

@testable import Outputs

/// What becomes of a file's content. What is done with the file is in `PublisherTests`.
@Suite struct OutputMergeTests {
    /// `<1>` stands for the first secret, `<2>` for the second, in any text.
    struct Row: CustomTestStringConvertible {
        let format: FileFormat
        let before: String
        /// The number of the secret for each variable, or for the whole file.
        let secrets: [String: Int]
        let after: String

        init(_ format: FileFormat, _ before: String, _ secrets: [String: Int], _ after: String) {
            self.format = format
            self.before = before
            self.secrets = secrets
            self.after = after
        }

        var testDescription: String { "\(format.name) \(before.debugDescription) with \(secrets)" }
    }

    private static func bytes(_ text: String) throws -> [UInt8] {
        var text = text
        for number in [1, 2] {
            text.replace("<\(number)>", with: Samples.text(try Samples.secret(number)))
        }
        return Array(text.utf8)
    }

    private static func merge(_ format: FileFormat) throws -> OutputMerge {
        OutputMerge(file: try Samples.file("/out", format, variables: ["A", "B"]))
    }

    @Test(arguments: [
        Row(.raw, "", ["": 1], "<1>"),
        Row(.raw, "<1>", ["": 1], "<1>"),
        Row(.raw, "<2>", ["": 1], "<1>"),
        // It is this secret, but not as the format writes it.
        Row(.raw, "<1>\n", ["": 1], "<1>"),
        Row(.raw, "something else", ["": 1], "<1>"),
        Row(.env, "", ["A": 1, "B": 2], "A=<1>\nB=<2>\n"),
        Row(.env, "A=<1>\nB=<2>\n", ["A": 1, "B": 2], "A=<1>\nB=<2>\n"),
        // What has no secret, and what is not ours, stays.
        Row(.env, "B=<2>\n", ["A": 1], "B=<2>\nA=<1>\n"),
        Row(.env, "# mine\nC=3\nA=old\n", ["A": 1], "# mine\nC=3\nA=<1>\n"),
    ])
    func theSecretsAreInTheContentAfterwards(row: Row) throws {
        let merge = try Self.merge(row.format)
        var secrets: [FileSlot: Secret] = [:]
        for (name, number) in row.secrets {
            secrets[name.isEmpty ? .whole : .variable(name)] = try Samples.secret(number)
        }
        let before = try Self.bytes(row.before)
        let after = try merge.merged(secrets, into: before, before.isEmpty ? nil : merge.read(before))
        #expect(after == (try Self.bytes(row.after)))
        let found = try merge.read(after)
        for (slot, secret) in secrets {
            guard case .token(let token)? = found.slots[slot] else {
                Issue.record("nothing is read back for \(slot)")
                continue
            }
            #expect(token.fingerprint == secret.token.fingerprint)
        }
    }

    /// However another program has laid out the object.
    @Test func aSecretThatIsThereAlreadyIsNotLaidOutAgain() throws {
        let secret = try Samples.secret(1)
        let merge = try Self.merge(.json)
        let written = Samples.json(secret)
        let before = [UInt8(ascii: " ")] + written
        #expect(try merge.merged([.whole: secret], into: before, merge.read(before)) == before)
        let other = Samples.json(try Samples.secret(2))
        #expect(try merge.merged([.whole: secret], into: other, merge.read(other)) == written)
    }
}
