import Testing

@testable import Linux

struct OwnUnitTests {
    /// A shell in a service passes its environment on.
    @Test func aProcessThatSystemdDidNotStartHasNone() {
        #expect(OwnUnit.service([:]) == nil)
        #expect(OwnUnit.service(["SYSTEMD_EXEC_PID": "1", "INVOCATION_ID": "0"]) == nil)
    }
}
