import Foundation
import TestSupport
import Testing

/// What the journal holds, and how it explains it.
@Suite struct JournalTests {
    private static func ids(in file: String, _ pattern: String) throws -> [String] {
        let text = try String(contentsOfFile: repository + "/" + file, encoding: .utf8)
        return text.matches(of: try Regex(pattern)).compactMap { $0.output[1].substring.map(String.init) }
    }

    @Test func everyKindOfEventIsExplainedOnce() throws {
        let used = try Self.ids(in: "Sources/Daemon/LogTable.swift", #""([0-9a-f]{32})""#)
        let explained = try Self.ids(in: "systemd/clientsecretd.catalog", #"(?m)^-- ([0-9a-f]{32})$"#)
        #expect(used.count > 10)
        #expect(used.sorted() == explained.sorted())
        #expect(Set(used).count == used.count)
    }

    @Test func systemdAcceptsTheCatalog() throws {
        let root = try TemporaryDirectory()
        for directory in ["usr/lib/systemd/catalog", "var/lib/systemd/catalog"] {
            try FileManager.default.createDirectory(atPath: root(directory), withIntermediateDirectories: true)
        }
        try FileManager.default.copyItem(
            atPath: repository + "/systemd/clientsecretd.catalog",
            toPath: root("usr/lib/systemd/catalog/clientsecretd.catalog"))
        let updated = try run(["journalctl", "--update-catalog", "--root", root.path])
        #expect(updated.status == 0 && updated.complaints == "", "\(updated.complaints)")
        let listed = try run(["journalctl", "--list-catalog", "--root", root.path])
        let explained = try Self.ids(in: "systemd/clientsecretd.catalog", #"(?m)^-- ([0-9a-f]{32})$"#)
        #expect(listed.output.split(separator: "\n").count == explained.count, "\(listed.output)")
    }

    @Test(.needsRoot("boots a systemd"))
    func entriesHaveFieldsAndExplanations() throws { try Bed.hold("journal.sh") }

    /// The name of the process that asks is its own choice.
    @Test func whoAskedIsTold() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web") + sandbox.client("app"))
        try sandbox.start()
        func told() throws -> [String] {
            try sandbox.log().split(separator: "\n").map(String.init).filter { $0.contains(" asked to ") }
        }
        #expect(try sandbox.command("renew", "web", "app").status == 0)
        let user = geteuid()
        let renewal = try #require(try told().first)
        let words = #/user (\d+) \(process \d+, "clientsecretd"\) asked to renew app, web/#
        #expect(renewal.wholeMatch(of: words)?.1 == "\(user)")
        #expect(try sandbox.command("renew", "--deliver-only").status == 0)
        #expect(try told().last?.hasSuffix(" asked to deliver again all clients") == true)
        let asked = try run(["python3", "-c", Self.renamed, sandbox.socket])
        #expect(asked.output.hasPrefix("HTTP/1.1 200 OK"), "\(asked)")
        let reload = try #require(try told().last)
        #expect(reload.contains("[2Jevil"), "\(reload)")
        #expect(reload.hasSuffix(" asked to reload the configuration"))
        #expect(!reload.utf8.contains(0x1B))
        #expect(try told().count == 3)
    }

    private static let renamed = """
        import socket, sys
        with open('/proc/self/comm', 'wb') as name: name.write(b'\\x1b[2Jevil')
        visitor = socket.socket(socket.AF_UNIX)
        visitor.connect(sys.argv[1])
        visitor.sendall(b'POST /v1/reload HTTP/1.1\\r\\nHost: h\\r\\nConnection: close\\r\\n\\r\\n')
        while data := visitor.recv(65536): print(data.decode())
        """
}
