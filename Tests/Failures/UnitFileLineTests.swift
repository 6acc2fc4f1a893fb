import Failures
import Foundation
import TestSupport
import Testing

/// What systemd reads in a line that was written for it, by systemd.syntax(7), systemd.unit(5) and glob(7).
@Suite struct UnitFileLineTests {
    private static let names = [
        "web.env", "a b", "100%", "a:b", "a'b", #"a"b"#, #"a\b"#, "[a]*?.env", "a;b", "ends in a blank ", #"ends in \"#,
        "%%h",
        "#a", "-a", " a",
    ]

    @Test(arguments: names) func aListOfPathsIsReadBack(name: String) throws {
        for (setting, separators) in [("ReadWritePaths", " "), ("BindPaths", ": ")] {
            let line = UnitFileLine.paths(setting, "/srv/" + name)
            let value = try #require(line.split(separator: "=", maxSplits: 1).last)
            #expect(line.hasPrefix(setting + "=") && !Self.continues(line))
            #expect(Self.words(of: String(value), separators) == ["-/srv/" + name], "\(line)")
        }
        #expect(UnitFileLine.paths("ExecPaths", "/srv/a", isOptional: false) == "ExecPaths=/srv/a")
    }

    @Test(arguments: names) func aGroupIsReadBack(name: String) throws {
        let line = UnitFileLine.supplementaryGroup(name)
        let value = try #require(line.split(separator: "=", maxSplits: 1).last)
        #expect(line.hasPrefix("SupplementaryGroups=") && !Self.continues(line))
        #expect(Self.words(of: String(value), " ") == [name], "\(line)")
    }

    @Test(arguments: names) func aDirectoryForEveryBootIsReadBack(name: String) {
        let line = UnitFileLine.directory("/run/" + name, mode: "0750", owner: "app", group: "my group")
        #expect(line.hasPrefix("d ") && !Self.continues(line))
        #expect(
            Self.words(of: String(line.dropFirst(2)), " ") == ["/run/" + name, "0750", "app", "my group"], "\(line)")
    }

    @Test(arguments: names) func anEnvironmentFileIsTheOnlyOneThatMatches(name: String) throws {
        let directory = try TemporaryDirectory()
        for other in Self.names + ["a", "axx.env", "ab", "ends in a blank"] { try directory.write("", to: other) }
        let line = UnitFileLine.environmentFile(directory(name))
        let value = line.dropFirst("EnvironmentFile=".count)
        #expect(line.hasPrefix("EnvironmentFile=/") && !value.hasSuffix(" ") && !Self.continues(line))
        var found = unsafe glob_t()
        defer { unsafe globfree(&found) }
        #expect(unsafe glob(Self.withoutSpecifiers(String(value)), 0, nil, &found) == 0, "\(line)")
        let paths = (0..<Int(unsafe found.gl_pathc)).compactMap { index in
            unsafe found.gl_pathv[index].map { unsafe String(cString: $0) }
        }
        #expect(paths == [directory(name)], "\(line)")
    }

    @Test func aCredentialIsReadBack() {
        #expect(
            UnitFileLine.loadCredential("100%", from: "/etc/a b:c%")
                == "LoadCredential=100%%:/etc/a b:c%%")
    }

    /// A backslash at the end continues a line, unless it is itself escaped.
    private static func continues(_ line: String) -> Bool { line.reversed().prefix { $0 == "\\" }.count % 2 == 1 }

    private static func withoutSpecifiers(_ text: String) -> String { text.replacing("%%", with: "%") }

    /// Words between separators. Quotes group, and a backslash takes the next character as it is.
    private static func words(of value: String, _ separators: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = Substring(value)
        while let character = rest.popFirst() {
            if character == "\\" {
                word = (word ?? "") + (rest.popFirst().map { String($0) } ?? "")
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if quote == nil, separators.contains(character) {
                if let ended = word { words.append(ended) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return (words + [word].compactMap { $0 }).map(withoutSpecifiers)
    }
}
