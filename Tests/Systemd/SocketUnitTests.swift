import Failures
import Linux
import TestSupport
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

    // MARK: The status socket of a daemon that runs

    private static let status = PackageUnit.statusSocket
    private static let mask = Remedy.say("unmask it")

    private static func state(_ activity: String, load: String = "loaded") -> UnitState {
        UnitState(load: load, activity: activity, invocation: "")
    }

    /// A daemon that was started without its socket holds none.
    @Test(
        arguments: [
            ("inactive", true, true, false, "is masked"), ("active", true, true, true, "is masked"),
            ("inactive", true, false, false, nil), ("inactive", false, true, true, nil),
            ("inactive", false, true, false, "is not started: systemd does not listen there"),
            ("inactive", false, false, false, nil),
            ("failed", false, true, false, "has failed: systemd does not listen there"),
            ("failed", true, false, false, "has failed: systemd does not listen there"),
            ("activating", false, true, false, nil),
        ] as [(String, Bool, Bool, Bool, String?)])
    func aSocketThatTheDaemonDidNotGetIsNamed(
        activity: String, isMasked: Bool, isWanted: Bool, isAnswered: Bool, words: String?
    ) {
        let found = SocketUnit.shortfall(
            in: Self.state(activity), isMasked: isMasked, file: "/", isWanted: isWanted
        ) { _ in isAnswered }
        #expect(found == words)
    }

    @Test func aFileThatIsGoneIsNamed() throws {
        let directory = try TemporaryDirectory()
        let file = directory("none.sock")
        let found = SocketUnit.shortfall(
            in: Self.state("active"), isMasked: false, file: file, isWanted: false
        ) { _ in true }
        #expect(found == "is active, and its file \(file) is gone")
        #expect(!SocketUnit.isAnswered(file))
        do {
            let listener = try ListeningSocket(path: file, mode: 0o600)
            #expect(SocketUnit.isAnswered(file))
            withExtendedLifetime(listener) {}
        }
        // Its file is left.
        #expect(!FileStatus.isAbsent(file) && !SocketUnit.isAnswered(file))
    }

    /// By an empty file, which is no link.
    @Test func aSocketIsMaskedAsSystemdHasLoadedIt() {
        let name = "clientsecretd-second.socket"
        #expect(SocketUnit.mask(of: name, in: Self.state("inactive")) == nil)
        let found = SocketUnit.mask(of: name, in: Self.state("inactive", load: "masked"))
        #expect(found?.description.hasPrefix("\(name) is masked: unmask it, if it is meant to run (") == true)
    }

    @Test func aClientNamesTheStateOfTheSocket() {
        let again =
            "systemctl reset-failed \(Self.status) && systemctl stop \(Self.status) clientsecretd.service && "
            + "systemctl start \(Self.status) clientsecretd.service"
        func remedy(_ activity: String, mask: Remedy? = nil, isGone: Bool = false) -> Remedy? {
            SocketUnit.remedyOfStatusSocket(in: Self.state(activity), mask: mask, isGone: isGone)
        }
        #expect(remedy("inactive", mask: Self.mask) == Self.mask)
        #expect(remedy("active", mask: Self.mask, isGone: true) == Self.mask)
        #expect(
            remedy("failed")?.description == "the service runs, and systemd has given up its socket: " + again)
        #expect(remedy("inactive")?.description == "the service runs, and its socket is not started: " + again)
        #expect(
            remedy("active", isGone: true)?.description
                == "the service runs, and its socket is gone: stop it and start it again: "
                + "systemctl stop clientsecretd.service && systemctl start clientsecretd.service")
        #expect(remedy("active") == nil)
    }
}
