import Testing

@testable import Linux

struct OwnUnitTests {
    @Test(
        arguments: [
            ("0::/system.slice/csb.service\n", "csb.service"),
            ("12:cpu:/\n1:name=systemd:/system.slice/a@b.service\n0::/\n", "a@b.service"),
            ("0::/system.slice/_cpu.service\n", "cpu.service"),
            ("0::/user.slice/user-0.slice/session-1.scope\n", nil),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.service\n", nil),
            ("12:cpu:/system.slice/a.service\n0::/\n", nil), ("", nil), ("0::\n", nil),
        ] as [(String, String?)])
    func theServiceIsTheLastGroup(text: String, service: String?) {
        #expect(OwnUnit.service(inControlGroups: text) == service)
    }

    /// A shell in a service passes its environment on.
    @Test func whatSystemdDidNotStartHasNone() {
        #expect(OwnUnit.service([:]) == nil)
        #expect(OwnUnit.service(["SYSTEMD_EXEC_PID": "1", "INVOCATION_ID": "0"]) == nil)
    }
}
