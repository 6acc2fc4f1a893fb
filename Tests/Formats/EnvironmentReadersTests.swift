import Foundation
import TestSupport
import Testing

@testable import Formats

/// What the editor writes, read by the programs that it is written for.
@Suite(.waits, .needs(.root, .venv, .servers, .tools)) struct EnvironmentReadersTests {
    private static let token = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJERUYxMjNHSElKIn0.c2lnbmF0dXJl_-0"
    private static let perStyle = 80
    private static let perShare = 2_000

    @Test func everyReaderSeesTheNewSecretAndNothingElseChanged() throws {
        var random = SeededGenerator()
        let seed = random.seed
        let all = try TemporaryDirectory()
        let plain = try TemporaryDirectory()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: all.path)
        var edited: [(name: String, sample: EnvironmentSample)] = []
        for style in EnvironmentSample.Style.allCases {
            for number in 0..<Self.perStyle {
                let sample = EnvironmentSample(style: style, using: &random)
                let name = "\(style)\(number)"
                var file: EnvironmentFile
                do {
                    file = try EnvironmentFile(sample.bytes)
                    try file.set(["SECRET": Array(Self.token.utf8)])
                } catch {
                    // What readers take alike must never be refused.
                    // With CRLF, a shell reads a last line differently once it has an end.
                    let isOpenEnded = sample.bytes.contains(13) && sample.bytes.last != UInt8(ascii: "\n")
                    // Programs that read line by line take the last of these lines, wherever it is.
                    let lines = String(decoding: sample.bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
                    let isSetAgain = lines.last { $0.hasPrefix("SECRET=") } == "SECRET=hidden"
                    #expect(
                        style == .loose || style == .noise || isOpenEnded || isSetAgain,
                        "seed \(seed), \(shown(sample.bytes)): \(error)")
                    continue
                }
                for directory in style == .plain ? [all, plain] : [all] {
                    try Data(sample.bytes).write(to: URL(fileURLWithPath: directory("\(name)-before.env")))
                    try Data(file.bytes).write(to: URL(fileURLWithPath: directory("\(name)-after.env")))
                }
                edited.append((name, sample))
            }
        }
        // Refusing everything would pass the rest: most of what some readers take otherwise can be edited all the same. So
        // many samples, because of 80 of noise a third is missed by one seed in many.
        for style in EnvironmentSample.Style.allCases {
            let count = (0..<Self.perShare).count { _ in
                guard var file = try? EnvironmentFile(EnvironmentSample(style: style, using: &random).bytes) else {
                    return false
                }
                return (try? file.set(["SECRET": Array(Self.token.utf8)])) != nil
            }
            #expect(count > Self.perShare / 3, "seed \(seed), \(style): only \(count) were edited")
        }
        for reader in RealReader.allCases {
            let directory = reader == .docker ? plain : all
            try reader.readAll(in: directory)
            for (name, sample) in edited where reader != .docker || sample.style == .plain {
                // Where it stands in a file's syntax, a shell takes a carriage return for anything but a line's end.
                if reader.isShell, sample.style == .noise, sample.bytes.contains(13) { continue }
                guard var before = reader.variables(of: name + "-before", in: directory) else {
                    #expect(
                        sample.style == .loose || sample.style == .noise || reader.isShell && sample.redirects,
                        "\(reader) cannot read \(shown(sample.bytes))")
                    continue
                }
                let written = FileManager.default.contents(atPath: all(name + "-after.env")).map { [UInt8]($0) } ?? []
                let context: Comment =
                    "seed \(seed), \(reader), \(shown(sample.bytes)) became \(shown(written))"
                var after = try #require(reader.variables(of: name + "-after", in: directory), context)
                // What has no name is no variable: nobody can be given it (setenv(3)).
                (before[""], after[""]) = (nil, nil)
                // For a reader to which a byte-order mark is text, the name has it; the line is set like any other.
                (before["\u{feff}SECRET"], after["\u{feff}SECRET"]) = (nil, nil)
                let old = before.removeValue(forKey: "SECRET")
                let new = after.removeValue(forKey: "SECRET")
                #expect(before == after, context)
                let value = new.map { String(decoding: $0, as: UTF8.self) }
                if reader == .systemd, old == nil, isExportOnly(written) {
                    #expect(value == nil, context)
                } else if reader.isShell, written.contains(13) {
                    // A shell takes the carriage return for a part of every value in such a file.
                    #expect(value == Self.token || value == Self.token + "\r", context)
                } else {
                    #expect(value == Self.token, context)
                }
            }
        }
    }

    /// systemd ignores a line that begins with `export`.
    private func isExportOnly(_ bytes: [UInt8]) -> Bool {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .filter { $0.hasSuffix("SECRET=" + Self.token) }
            .allSatisfy { $0.drop { " \t".contains($0) }.hasPrefix("export") }
    }

    private func shown(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).debugDescription
    }
}
