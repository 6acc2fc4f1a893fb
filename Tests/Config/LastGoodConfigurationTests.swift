import Foundation
import Linux
import Model
import Push
import Store
import TestSupport
import Testing

@testable import Config

/// The copy of a configuration's text by which a start goes on whose own text is refused.
@Suite struct LastGoodConfigurationTests {
    private let directory: TemporaryDirectory
    private let me = Identity.current()

    private let good = """
        keys: {apple: {team_id: DEF123GHIJ, file: /nonexistent/AuthKey_ABC123DEFG.p8}}
        # Straße, "quoted" \\ and	tab
        clients: {web: {outputs: [{path: /run/web}]}}

        """

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write(good, to: "c.yaml", mode: 0o644)
    }

    private var copies: String { directory("copies") }

    private func keep() throws -> LoadedConfiguration {
        let loaded = try ConfigurationLoader.load(path: directory("c.yaml"), as: me).get()
        try LastGoodConfiguration(of: loaded).keep(in: copies, as: me, for: .owner)
        return loaded
    }

    /// Where the copy of `c.yaml` lies.
    private func copy() throws -> String {
        LastGoodConfiguration.file(of: try #require(AbsolutePath(directory("c.yaml"))), in: copies)
    }

    private func kept(_ path: String? = nil, as identity: Identity? = nil) -> LoadedConfiguration? {
        LastGoodConfiguration.load(path: path ?? directory("c.yaml"), in: copies, as: identity ?? me)
    }

    @Test func itIsTheSameConfigurationWithTheSamePlaces() throws {
        try directory.folder("c.d")
        try directory.write("clients: {b: {outputs: [{path: /run/b, mode: 0644}]}}", to: "c.d/20.yaml")
        try directory.write("clients: {a: {outputs: [{path: /run/a}]}}", to: "c.d/10.yaml")
        let loaded = try keep()
        try FileManager.default.removeItem(atPath: directory("c.d"))
        try FileManager.default.removeItem(atPath: directory("c.yaml"))
        let again = try #require(kept())
        #expect(again.configuration == loaded.configuration)
        #expect(again.sources.map(\.bytes) == loaded.sources.map(\.bytes))
        #expect(again.files == loaded.files)
        #expect(again.warnings == loaded.warnings)
        #expect(!again.warnings.isEmpty)
    }

    /// What the network program reads.
    @Test(arguments: [
        nil, "targets: {\n", "targets: {production: {kind: vaul}}\nstore: {endpoints: [no]}\n", "target: {}\n",
        "#missing",
    ])
    func aSectionThatIsRefusedIsThatOfTheAdoptedText(text: String?) throws {
        let settings = """
            targets: {production: {kind: vault, path: a, endpoint: "https://v.example.com", token_credential: t}}
            store: {endpoints: ["https://e.example.com:2379"]}

            """
        try directory.write(good.replacing("path: /run/web", with: "push: production") + settings, to: "c.yaml")
        _ = try keep()
        let path = directory("c.yaml")
        let copy = try copy()
        try FileManager.default.removeItem(atPath: path)
        if let text { try directory.write(text, to: "c.yaml", mode: 0o644) }
        // Whichever configuration it is of: a service sees its own under another name.
        try FileManager.default.copyItem(atPath: copy, toPath: directory("adopted.json"))
        for adopted in [copy, directory("adopted.json")] {
            let targets = try ConfigurationLoader.targets(path: path, adopted: adopted, as: me).get()
            #expect(targets.map(\.name) == ["production"])
            let store = try #require(try ConfigurationLoader.store(path: path, adopted: adopted, as: me).get())
            #expect(store.endpoints == ["https://e.example.com:2379"])
        }
        // What is said is what is wrong now.
        try directory.write("missing", to: "adopted.json")
        #expect(throws: ConfigurationError.self) {
            try ConfigurationLoader.targets(path: path, adopted: directory("adopted.json"), as: me).get()
        }
    }

    @Test func aSectionThatPassesIsTheCurrentTexts() throws {
        _ = try keep()
        try directory.write(good + "store: {endpoints: [\"https://e.example.com:2379\"]}\n", to: "c.yaml")
        #expect(try ConfigurationLoader.store(path: directory("c.yaml"), adopted: copy(), as: me).get() != nil)
    }

    /// An administrator moves a target and makes a mistake elsewhere: the daemon goes on with the former text.
    @Test func targetsThatTheDaemonDoesNotMeanAreThoseOfTheAdoptedText() throws {
        func text(_ place: String) -> String {
            good.replacing("path: /run/web", with: "push: production")
                + "targets: {production: {kind: vault, path: \(place), endpoint: \"https://v.example.com\", token_credential: t}}\n"
        }
        try directory.write(text("a"), to: "c.yaml")
        _ = try keep()
        let path = directory("c.yaml")
        let adopted = try copy()
        func places(where isExpected: ([PushTarget]) -> Bool) throws -> [String] {
            try ConfigurationLoader.targets(path: path, adopted: adopted, as: me, where: isExpected).get().map(\.place)
        }
        let former = try places(where: { _ in true })
        try directory.write(text("b").replacing("team_id", with: "team"), to: "c.yaml")
        let edited = try places(where: { _ in true })
        #expect(edited != former)
        let meant = try places(where: { $0.map(\.place) == former })
        #expect(meant == former)
        // The daemon has loaded it, and root has not copied it yet.
        let loaded = try places(where: { $0.map(\.place) == edited })
        #expect(loaded == edited)
        let neither = try places(where: { _ in false })
        #expect(neither == edited)
    }

    /// Versions before wrote it on several lines, with blanks around the colons and the members in another order.
    @Test func aCopyOfAnEarlierVersionIsRead() throws {
        _ = try keep()
        let additions = [["name": "10.yaml", "text": "clients: {a: {outputs: [{path: /run/a}]}}"]]
        let earlier: [String: Any] = [
            "version": 1, "configuration": directory("c.yaml"), "text": good, "additions": additions,
        ]
        try JSONSerialization.data(withJSONObject: earlier, options: [.prettyPrinted, .sortedKeys])
            .write(to: URL(fileURLWithPath: copy()))
        let loaded = try #require(kept())
        #expect(loaded.configuration.clients.keys.map(\.description).sorted() == ["a", "web"])
        #expect(loaded.sources[0].bytes == Array(good.utf8))
        #expect(loaded.sources[1].path.description == directory("c.d") + "/10.yaml")
    }

    @Test func theLastOneWins() throws {
        _ = try keep()
        try directory.write(good.replacing("web", with: "shop"), to: "c.yaml")
        _ = try keep()
        #expect(kept()?.configuration.clients.keys.map(\.description) == ["shop"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: copies).count == 1)
    }

    /// A daemon that runs as root does so, and `reload` as root.
    @Test func severalProcessesMaySaveTheSameTextAtOnce() throws {
        let problems = QuietMutex<[String]>([])
        for round in 0..<40 {
            try directory.write(good.replacing("web", with: "web\(round)"), to: "c.yaml")
            let loaded = try ConfigurationLoader.load(path: directory("c.yaml"), as: me).get()
            let copy = LastGoodConfiguration(of: loaded)
            let place = copies
            let identity = me
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do throws(FileError) {
                    try copy.keep(in: place, as: identity, for: .owner)
                } catch {
                    let words = error.description
                    problems.withLock { $0.append(words) }
                }
            }
            #expect(kept()?.configuration.clients.keys.map(\.description) == ["web\(round)"])
        }
        let found = problems.withLock { $0 }
        #expect(found == [])
    }

    @Test func anotherPathHasAnotherCopy() throws {
        _ = try keep()
        try directory.write(good, to: "d.yaml")
        #expect(kept(directory("d.yaml")) == nil)
        // One that was put in its place is for the path that it names.
        try FileManager.default.copyItem(atPath: copy(), toPath: copy().replacing("c.yaml", with: "d.yaml"))
        #expect(kept(directory("d.yaml")) == nil)
    }

    @Test func aCopyThatOthersMayWriteIsNotBelieved() throws {
        _ = try keep()
        let name = URL(fileURLWithPath: try copy()).lastPathComponent
        try directory.permit(0o620, "copies/" + name)
        #expect(kept() == nil)
        try directory.permit(0o600, "copies/" + name)
        try directory.permit(0o777, "copies")
        #expect(kept() == nil)
        try directory.permit(0o755, "copies")
        #expect(kept() != nil)
    }

    @Test(arguments: ["", "{", "[]", #"{"version": 2}"#, "keys: {}"])
    func aFileThatIsNoCopyCountsAsNone(_ text: String) throws {
        _ = try keep()
        try Data(text.utf8).write(to: URL(fileURLWithPath: copy()))
        #expect(kept() == nil)
    }

    @Test(arguments: [
        ("/etc/clientsecretd/clientsecretd.yaml", "etc-clientsecretd-clientsecretd.yaml.json"),
        ("/.a/b-c d.yaml", #"\x2ea-b\x2dc\x20d.yaml.json"#), ("/é.yaml", #"\xc3\xa9.yaml.json"#),
    ]) func isCalledAsSystemdEscapesPaths(_ path: String, _ name: String) throws {
        let main = try #require(AbsolutePath(path))
        #expect(LastGoodConfiguration.file(of: main, in: "/d") == "/d/" + name)
    }

    @Test func theCopyHasTheReadersOfTheText() throws {
        // The temporary directory's own mode is what it is.
        try directory.permit(0o755)
        let group = try #require(FileStatus.following(directory("c.yaml"))).group
        let groupOfDirectory = try #require(FileStatus.following(directory.path)).group
        func readers() throws -> FileReaders? {
            try ConfigurationLoader.load(path: directory("c.yaml"), as: me).get().readers
        }
        #expect(try readers() == .everyone)
        try directory.permit(0o640, "c.yaml")
        #expect(try readers() == .members(of: group))
        try directory.folder("c.d")
        try directory.write("clients: {b: {outputs: [{path: /run/b}]}}", to: "c.d/b.yaml", mode: 0o640)
        #expect(try readers() == .members(of: group))
        try directory.permit(0o644, "c.d/b.yaml")
        #expect(try readers() == .members(of: group))
        try directory.permit(0o644, "c.yaml")
        try directory.permit(0o750)
        #expect(try readers() == .members(of: groupOfDirectory))
        try directory.permit(0o700, "c.d")
        #expect(try readers() == .owner)
    }

    /// A group that may read one of the files may not read the other.
    @Test(.needs(.root)) func filesOfTwoGroupsHaveNoReadersOfACopy() throws {
        try directory.permit(0o755)
        try directory.folder("c.d")
        try directory.write("clients: {b: {outputs: [{path: /run/b}]}}", to: "c.d/b.yaml", mode: 0o640)
        try directory.permit(0o640, "c.yaml")
        for (group, readers) in [(33, nil), (34, .members(of: 34))] as [(UInt32, FileReaders?)] {
            try #require(unsafe chown(directory("c.yaml"), 0, group) == 0)
            try #require(unsafe chown(directory("c.d/b.yaml"), 0, 34) == 0)
            #expect(try ConfigurationLoader.load(path: directory("c.yaml"), as: me).get().readers == readers)
        }
    }
}
