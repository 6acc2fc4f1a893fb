import AppleClientSecret
import Failures
import Glibc
import Model
import StatusAPI
import SystemPackage
import Testing

@testable import Config
@testable import Daemon
@testable import clientsecretd

/// With what a command exits.
@Suite struct CommandFailureTests {
    private func code(_ error: StatusClientError) -> Int32 { CommandFailure(error).code.rawValue }

    @Test func aDaemonThatIsNotThereIs69() {
        #expect(code(.notReachable(socket: "/run/x.sock", cause: .noSuchFileOrDirectory)) == 69)
        #expect(code(.timedOut(socket: "/run/x.sock", seconds: 1)) == 69)
        #expect(code(.foreignListener(socket: "/run/x.sock", user: 1234)) == 69)
        #expect(code(.notHTTP(socket: "/run/x.sock", what: "it is not HTTP")) == 69)
        #expect(code(.ended(socket: "/run/x.sock")) == 69)
    }

    @Test func aSocketThatMayNotBeOpenedIs77() {
        #expect(code(.notPermitted(socket: "/run/x.sock", cause: .permissionDenied)) == 77)
    }

    /// By the status of the answer: what is refused to this user, and what the daemon has no time for, have their own.
    @Test(arguments: [(403, 77), (404, 1), (408, 69), (422, 1), (429, 1), (500, 1), (502, 1), (503, 69)])
    func theDaemonsAnswerDecides(status: Int, expected: Int32) throws {
        let problem = try Problem(json: Array(#"{"status":\#(status),"detail":"no"}"#.utf8))
        #expect(code(.answered(problem)) == expected)
    }

    @Test func anAnswerThatCannotBeReadIs1() {
        #expect(code(.malformed(what: "it is not JSON")) == 1)
    }
    /// What cannot be read may well be correct.
    @Test(
        arguments: [
            (.permissionDenied, 77), (.ioError, 1), (.notResponding, 1), (.outOfDescriptors, 1), (.systemError, 1),
            (.isDirectory, 78), (.fileTooLarge, 78), (.missing, 78),
        ] as [(FailureCode, Int32)])
    func onlyTheConfigurationsOwnTextIs78(code: FailureCode, expected: Int32) {
        let error = ConfigurationError(diagnostics: [], unread: UnreadText(code))
        #expect(throws: CommandFailure(CommandExitStatus(rawValue: expected)!, "")) { try accepted(.failure(error)) }
        #expect(DaemonExitStatus(error).rawValue == expected)
    }

    @Test(arguments: [(EACCES, 77), (EIO, 1), (nil, 1)] as [(Int32?, Int32)])
    func aConfiguredKeyThatMayNotBeReadIs77(cause: Int32?, expected: Int32) throws {
        let path = try #require(AbsolutePath("/etc/clientsecretd/key.p8"))
        let failure = Failure(.keyUnreadable, at: .path(path), cause: cause)
        #expect(CommandFailure(configuredKey: failure).code.rawValue == expected)
    }
}
