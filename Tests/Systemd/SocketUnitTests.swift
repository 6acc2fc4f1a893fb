import Failures
import Testing

@testable import Systemd

struct SocketUnitTests {
    private static let writer = "clientsecretd-writer@app.socket"
    private static let writerAgain =
        "systemctl reset-failed \(writer) && systemctl stop \(writer) clientsecretd-writer@app.service && "
        + "systemctl start \(writer)"
    private static let store = "clientsecretd-store.socket"
    private static let storeAgain =
        "systemctl reset-failed \(store) && systemctl stop \(store) clientsecretd-store.service && systemctl start \(store)"
    private static let verify = "clientsecretd-verify.socket"
    private static let verifyAgain =
        "systemctl reset-failed \(verify) && systemctl stop \(verify) && systemctl start \(verify)"
    private static let credentials = PackageUnit.credentialSocket
    private static let credentialsAgain =
        "systemctl reset-failed \(credentials) && systemctl stop \(credentials) clientsecretd.service && "
        + "systemctl start \(credentials)"

    /// Nil: what enables and starts it helps. To enable one that is active without its file would do nothing, and one that has
    /// failed may have been started too often.
    @Test(
        arguments: [
            (writer, "inactive", true, nil), (writer, "active", true, writerAgain),
            (writer, "failed", false, writerAgain),
            (store, "inactive", true, nil), (store, "active", false, storeAgain), (store, "failed", true, storeAgain),
            (verify, "inactive", true, nil), (verify, "active", true, verifyAgain),
            (verify, "failed", true, verifyAgain),
            (credentials, "inactive", false, nil), (credentials, "failed", false, credentialsAgain),
            (credentials, "inactive", true, credentialsAgain + " clientsecretd.service"),
            (credentials, "active", true, credentialsAgain + " clientsecretd.service"),
            (credentials, "failed", true, credentialsAgain + " clientsecretd.service"),
        ] as [(String, String, Bool, String?)])
    func aSocketIsBroughtBackFromEachState(socket: String, activity: String, isDaemonUp: Bool, command: String?) {
        let state = UnitState(load: "loaded", activity: activity, invocation: "")
        #expect(SocketUnit.remedy(of: socket, in: state, isDaemonUp: isDaemonUp)?.command == command)
    }

    /// Its service is not known, so nothing is stopped.
    @Test func ofAnotherSocketNothingIsStopped() {
        let state = UnitState(load: "loaded", activity: "active", invocation: "")
        #expect(SocketUnit.remedy(of: "clientsecretd-second.socket", in: state, isDaemonUp: true) == nil)
    }

    /// To enable one without a unit file cannot work.
    @Test(arguments: [
        (writer, "clientsecretd"), ("clientsecretd-push@shop.socket", "clientsecretd-network"),
        (verify, "clientsecretd-network"), (store, "clientsecretd-network"),
    ])
    func theUnitOfASocketIsMissingIfItsPackageIs(socket: String, package: String) {
        let state = UnitState(load: "not-found", activity: "inactive", invocation: "")
        let remedy = SocketUnit.remedy(of: socket, in: state, isDaemonUp: true)
        #expect(remedy == .say("install the package \(package): this machine has no unit \(socket)"))
    }
}
