import Foundation
import TestSupport
import Testing

/// The catalog by which the journal explains log events; `bed/journal.sh` sees a real journal do it.
@Suite struct JournalCatalogTests {
    private static func ids(in file: String, _ pattern: String) throws -> [String] {
        let text = try String(contentsOfFile: repository + "/" + file, encoding: .utf8)
        return text.matches(of: try Regex(pattern)).compactMap { $0.output[1].substring.map(String.init) }
    }

    @Test(.needs(.tools)) func systemdAcceptsTheCatalog() throws {
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
}
