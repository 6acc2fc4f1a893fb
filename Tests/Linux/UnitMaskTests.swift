import Failures
import Foundation
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
        let words = "\(masked) is masked: unmask it, if it is meant to run"
        // systemctl leaves a mask that ends with the next boot, unless it is asked to remove that one.
        try scratch.link("run/\(masked)", to: "/dev/null")
        let remedy = try #require(UnitMask.remedy(in: directories, ofSocket: socket))
        #expect(remedy == .say(words + " (systemctl unmask --runtime \(masked))"))
        #expect(remedy.command == nil)
        try scratch.link("etc/\(masked)", to: "/dev/null")
        #expect(
            UnitMask.remedy(in: directories, ofSocket: socket)
                == .say(words + " (systemctl unmask \(masked) && systemctl unmask --runtime \(masked))"))
        try FileManager.default.removeItem(atPath: scratch("run/\(masked)"))
        #expect(
            UnitMask.remedy(in: directories, ofSocket: socket) == .say(words + " (systemctl unmask \(masked))"))
    }

    /// One that was masked before it was ever enabled.
    @Test func whatAUnitNeedsAfterItsMaskIsNamed() throws {
        let scratch = try TemporaryDirectory()
        try scratch.folder("etc")
        try scratch.link("etc/a.service", to: "/dev/null")
        let remedy = UnitMask.remedy(in: [scratch("etc")], of: ["a.service"], then: .enable("a.service"))
        #expect(
            remedy?.description == "a.service is masked: unmask it, if it is meant to run "
                + "(systemctl unmask a.service && systemctl enable a.service)")
        #expect(UnitMask.remedy(in: [scratch("etc")], of: ["b.service"], then: .enable("b.service")) == nil)
    }
}
