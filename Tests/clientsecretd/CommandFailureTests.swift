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
    /// A daemon that is not there, a socket that may not be opened, and an answer that cannot be read.
    @Test(
        arguments: [
            (.notReachable(socket: "/run/x.sock", cause: .noSuchFileOrDirectory), 69),
            (.timedOut(socket: "/run/x.sock", seconds: 1), 69),
            (.foreignListener(socket: "/run/x.sock", user: 1234), 69),
            (.notHTTP(socket: "/run/x.sock", what: "it is not HTTP"), 69), (.ended(socket: "/run/x.sock"), 69),
            (.notPermitted(socket: "/run/x.sock", cause: .permissionDenied), 77), (.malformed(what: "no JSON"), 1),
        ] as [(StatusClientError, Int32)])
    func aDaemonThatDoesNotAnswerHasACode(error: StatusClientError, expected: Int32) {
        #expect(CommandFailure(error).code.rawValue == expected)
    }

    /// By the status of the answer: what is refused to this user, and what the daemon has no time for, have their own.
    @Test(arguments: [(403, 77), (404, 1), (408, 69), (422, 1), (429, 1), (500, 1), (502, 1), (503, 69)])
    func theDaemonsAnswerDecides(status: Int, expected: Int32) throws {
        let problem = try Problem(json: Array(#"{"status":\#(status),"detail":"no"}"#.utf8))
        #expect(CommandFailure(StatusClientError.answered(problem)).code.rawValue == expected)
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
