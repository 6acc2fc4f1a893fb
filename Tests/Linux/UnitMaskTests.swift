import Failures
import TestSupport
import Testing

@testable import Linux

struct UnitMaskTests {
    /// The socket or what it starts, each by its own name or by its template's.
    @Test(arguments: [
        ("clientsecretd-writer@app.socket", "clientsecretd-writer@app.socket"),
        ("clientsecretd-writer@app.socket", "clientsecretd-writer@.socket"),
        ("clientsecretd-writer@app.socket", "clientsecretd-writer@app.service"),
        ("clientsecretd-writer@app.socket", "clientsecretd-writer@.service"),
        ("clientsecretd-verify.socket", "clientsecretd-verify.socket"),
        ("clientsecretd-verify.socket", "clientsecretd-verify@.service"),
    ])
    func noCommandUndoesAMask(socket: String, masked: String) throws {
        let scratch = try TemporaryDirectory()
        let directories = [scratch("etc"), scratch("run")]
        for name in ["etc", "run"] { try scratch.folder(name) }
        #expect(UnitMask.remedy(in: directories, ofSocket: socket) == nil)
        try scratch.link("etc/clientsecretd-writer@other.socket", to: "/dev/null")
        try scratch.link("etc/\(masked).wants", to: "/dev/null")
        #expect(UnitMask.remedy(in: directories, ofSocket: socket) == nil)
        try scratch.link("run/\(masked)", to: "/dev/null")
        let remedy = try #require(UnitMask.remedy(in: directories, ofSocket: socket))
        #expect(remedy.command == nil)
        #expect(
            remedy.description
                == "\(masked) is masked: unmask it, if it is meant to run (systemctl unmask \(masked))")
    }
}
