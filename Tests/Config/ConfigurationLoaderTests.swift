import Foundation
import Linux
import Model
import TestSupport
import Testing

@testable import Config

/// A configuration on a real disk, with real owners. As root, files are given to other users; without, the same rules
/// are judged for another identity.
@Suite struct ConfigurationLoaderTests {
    private let directory: TemporaryDirectory
    private let me = Identity.current()

    private let good = """
        keys: {apple: {team_id: DEF123GHIJ, file: /nonexistent/AuthKey_ABC123DEFG.p8}}
        clients: {web: {outputs: [{path: /run/web}]}}

        """

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func readsAFileAndItsDirectory() throws {
        try directory.write(good, to: "c.yaml", mode: 0o644)
        try directory.folder("c.d")
        try directory.write("clients: {b: {outputs: [{path: /run/b}]}}", to: "c.d/20.yaml")
        try directory.write("clients: {a: {outputs: [{path: /run/a}]}}", to: "c.d/10.yaml")
        try directory.write("not: read", to: "c.d/.hidden.yaml")
        try directory.write("not: read", to: "c.d/30.yaml.bak")
        for name in ["30.yml", "40.YML", "50.YAML"] { try directory.write("not: read", to: "c.d/\(name)") }
        let loaded = try ConfigurationLoader.load(path: directory("c.yaml"), as: me).get()
        #expect(loaded.configuration.clients.keys.map(\.description).sorted() == ["a", "b", "web"])
        #expect(loaded.files.map(\.name) == ["c.yaml", "10.yaml", "20.yaml"])
        #expect(loaded.directory.description == directory("c.d"))
        #expect(
            loaded.warnings.map(\.description) == [
                "\(directory("c.d/30.yml")):1:1: warning: the file is not read; call it 30.yaml",
                "\(directory("c.d/40.YML")):1:1: warning: the file is not read; call it 40.yaml",
                "\(directory("c.d/50.YAML")):1:1: warning: the file is not read; call it 50.yaml",
            ])
    }

    /// The first is said in one line elsewhere, as why it is refused.
    @Test func theReasonsForARefusalComeBeforeWarnings() throws {
        let warned = good.replacingOccurrences(of: "path: /run/web", with: "mode: \"0644\", path: /run/web")
        try directory.write(warned, to: "c.yaml")
        try directory.folder("c.d")
        try directory.write("bogus: 1\n", to: "c.d/1.yaml")
        let error = try #require(ConfigurationLoader.load(path: directory("c.yaml"), as: me).refusal, "it was accepted")
        #expect(error.diagnostics.map(\.severity) != error.errorsFirst.map(\.severity))
        #expect(error.errorsFirst.first?.severity == .error)
        #expect(Set(error.errorsFirst) == Set(error.diagnostics))
    }

    /// That the configuration of this name is refused, with these words at its start.
    private func expectRefusal(_ words: String, of name: String = "c.yaml") {
        #expect(said(name) == ["\(directory(name)):1:1: error: \(words)"])
    }

    @Test func refusesWhatIsNoFile() throws {
        for name in ["c.yaml", "x/c.yaml"] {
            expectRefusal(
                "there is no such file; name another one with --config, or create this one: clientsecretd init",
                of: name)
        }
        try directory.folder("c.yaml")
        expectRefusal(
            "\(directory("c.yaml")): it is a directory, not a file; name a file, or remove the directory if it is not needed"
        )
    }

    @Test func refusesALargeFile() throws {
        try directory.write(String(repeating: "#", count: YAMLReader.maximumSize + 1), to: "c.yaml")
        expectRefusal("larger than 1 MiB; move clients to files of the .d directory")
    }

    @Test func refusesAFileThatOthersMayWrite() throws {
        try directory.write(good, to: "c.yaml", mode: 0o646)
        let path = directory("c.yaml")
        expectRefusal(
            "other users can change \(path): the file is writable by every user; look at what they may have written "
                + "there, then remove their write permission (\(asOwner("chmod o-w \(path)")))")
    }

    /// The files that add to it are guarded like it, and what each of them lacks is told.
    @Test func refusesAdditionsThatOthersMayWrite() throws {
        try directory.write(good, to: "c.yaml")
        try directory.folder("c.d")
        try directory.write("clients: {a: {outputs: [{path: /run/a}]}}", to: "c.d/1.yaml", mode: 0o622)
        try directory.write("clients: {b: {verify: 2}}", to: "c.d/2.yaml")
        try directory.folder("c.d/3.yaml")
        try directory.link("c.d/4.yaml", to: directory("none.yaml"))
        let said = said("c.yaml")
        #expect(said.count == 4)
        let words = "c.d/1.yaml:1:1: error: other users can change \(directory("c.d/1.yaml")): "
        #expect(said.first?.contains(words) == true)
        #expect(
            said.contains(
                #"\#(directory("c.d/2.yaml")):1:23: error: "2" is neither true nor false; write true or false"#))
        #expect(said.contains { $0.contains("c.d/3.yaml:1:1: error: \(directory("c.d/3.yaml")): it is a directory") })
        #expect(said.contains { $0.contains("c.d/4.yaml:1:1: error: the link leads to no file") })
    }

    @Test func refusesADirectoryOfAdditionsThatOthersMayWrite() throws {
        try directory.write(good, to: "c.yaml")
        try directory.folder("c.d", mode: 0o777)
        let said = said("c.yaml")
        #expect(said.count == 1)
        let words = "\(directory("c.d")):1:1: error: other users can change \(directory("c.d")): "
        #expect(said.first?.hasPrefix(words) == true)
    }

    @Test func refusesAControlGroupThatCouldReadAKey() throws {
        let group = me.user == 0 ? 54_321 : me.group
        for (file, mode) in [("key.p8", 0o640), ("pass", 0o640), ("closed", 0o600)] {
            try directory.write("x", to: file, mode: mode)
            try FileManager.default.setAttributes([.groupOwnerAccountID: group], ofItemAtPath: directory(file))
        }
        func text(key: String, passphrase: String, group: UInt32) -> String {
            """
            keys: {a: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: \(directory(key)), passphrase_file: \(directory(passphrase))}}
            control_group: "\(group)"
            clients: {web: {outputs: [{path: /run/web}]}}
            """
        }
        try directory.write(text(key: "key.p8", passphrase: "pass", group: group), to: "c.yaml")
        let start = "\(directory("c.yaml")):2:16: error: group \"\(group)\" may read "
        #expect(
            said("c.yaml") == [
                start
                    + "the private key of \"a\", \(directory("key.p8")); write another group, or remove that group's permission to read it",
                start
                    + "the passphrase of key \"a\", \(directory("pass")); write another group, or remove that group's permission to read it",
            ])
        try directory.write(text(key: "closed", passphrase: "missing", group: group), to: "c.yaml")
        #expect(said("c.yaml").isEmpty)
        try directory.write(text(key: "key.p8", passphrase: "pass", group: group + 1), to: "c.yaml")
        #expect(said("c.yaml").isEmpty)
    }

    @Test(arguments: ["", "../c.yaml/..", "a/../c.yaml"])
    func refusesPathsThatMayLeadElsewhere(path: String) throws {
        let error = try #require(ConfigurationLoader.load(path: path, as: me).refusal, "it was accepted")
        #expect(error.diagnostics.count == 1)
        #expect(error.diagnostics.first?.position == Position(file: path, line: 1, column: 1))
    }

    @Test func takesARelativePathFromTheWorkingDirectory() throws {
        let here = FileManager.default.currentDirectoryPath
        try directory.write(good, to: "c.yaml")
        try directory.folder("c.d")
        try directory.write("x: y", to: "c.d/1.yaml")
        let up = String(repeating: "../", count: here.split(separator: "/").count)
        let relative = "./" + up + directory("c.yaml").dropFirst()
        let error = try #require(ConfigurationLoader.load(path: relative, as: me).refusal, "it was accepted")
        #expect(error.diagnostics.map(\.position.file) == [relative.dropLast(5) + ".d/1.yaml"])
    }

    private func said(_ name: String) -> [String] {
        switch ConfigurationLoader.load(path: directory(name), as: me) {
        case .success(let loaded): loaded.warnings.map(\.description)
        case .failure(let error): error.diagnostics.map(\.description)
        }
    }
}
