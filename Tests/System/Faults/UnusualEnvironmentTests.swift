import Foundation
import TestSupport
import Testing

/// What the daemon is sent, given or denied from outside, with the real binary.
@Suite(.waits) struct UnusualEnvironmentTests {
    /// Begins a command line whose program does not find /proc.
    private static let withoutProc = [
        "unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh",
    ]

    /// Signals that mean nothing to it: all of them but those that stop a process, end one for a fault of its own, or are
    /// sent by a person to end it.
    private static let stray: [Int32] =
        [SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGXFSZ, 16]
        + Array(32...64)

    @Test func noStraySignalEndsIt() throws {
        let sandbox = try Sandbox.running("web")
        let process = try #require(sandbox.processID)
        for signal in Self.stray { #expect(kill(process, signal) == 0, "\(signal)") }
        // A daemon that had been ended by one of them would not answer.
        try sandbox.succeed("renew", "web")
        #expect(sandbox.stop() == 0)
    }

    /// Without /proc it can neither be listed who descends from a hook, nor be told which program runs.
    @Test(.needs(.root)) func withoutProcItServesAndEndsItsHooks() throws {
        let sandbox = try Sandbox()
        let hook = try sandbox.directory.write(
            """
            #!/bin/bash
            mkfifo \(sandbox.directory("ready"))
            setsid -f setsid -f bash -c 'trap "" TERM; ulimit -R 1000000; echo >\(sandbox.directory("ready")); exec sleep 600.7771'
            read <\(sandbox.directory("ready"))
            exec sleep 600.7771
            """, to: "hook", mode: 0o700)
        try sandbox.configure(sandbox.client("web", more: "    on_change: [{exec: [\(hook)], timeout: 2s}]\n"))
        let once = try run(
            ["timeout", "--foreground", "--signal=KILL", "5m"] + Self.withoutProc + [
                sandbox.binary, "run", "--once", "--config", sandbox.configuration,
            ])
        #expect(once.status == 1, "\(once.complaints)")
        // One that could not start anything would have failed at once.
        #expect(once.complaints.contains("hook: took longer than its timeout and was ended"), "\(once.complaints)")
        #expect(sandbox.isThere("out/web.jwt"))
        #expect(try run(["pgrep", "-f", "^sleep 600.7771$"]).output == "")
    }

    /// An access list cannot be read then. Everybody may read a configuration, but not a key, of which the list decides.
    @Test(.needs(.root)) func withoutProcAConfigurationIsThere() throws {
        let sandbox = try Sandbox(clients: "web")
        let check = Self.withoutProc + [sandbox.binary, "check", "--config", sandbox.configuration]
        try sandbox.permit(sandbox.configuration, 0o644)
        try runToSuccess(check)
        try sandbox.permit(sandbox.key, 0o640)
        let closed = try run(check)
        #expect(closed.status == 1 && closed.complaints.contains("/proc is not mounted"), "\(closed)")
    }

    /// Nothing is to be shortened: the process may write no file of any length.
    @Test func aLimitOnTheSizeOfFilesIsNamed() throws {
        let sandbox = try Sandbox(clients: "web")
        let limited = #"{ ulimit -f 0; exec "$0" run --once; } 2>&1 | cat; exit "${PIPESTATUS[0]}""#
        let once = try run(["bash", "-c", limited, sandbox.binary], environment: sandbox.environment)
        #expect(once.status == 1 && once.output.contains("LimitFSIZE="), "\(once)")
        #expect(!once.output.contains("shorten it"), "\(once)")
    }

    /// A file that gets the number of a closed descriptor would be sent the log.
    @Test func withoutStandardDescriptorsNoFileIsWrittenInto() throws {
        let sandbox = try Sandbox(clients: "web")
        try runToSuccess(
            ["bash", "-c", #"exec "$0" run --once <&- >&- 2>&-"#, sandbox.binary], environment: sandbox.environment)
        #expect(sandbox.isThere("out/web.jwt"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: sandbox.state + "/lock")).isEmpty)
    }

    // MARK: What it is asked to read

    /// Opening a named pipe waits for somebody who writes: an answer is due nevertheless.
    @Test func noPipeKeepsACommandWaiting() throws {
        let sandbox = try Sandbox(clients: "web")
        let pipe = sandbox.directory("pipe")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        try sandbox.directory.write(sandbox.succeed("mint", "web"), to: "secret")
        for arguments in [["inspect", pipe], ["inspect", "--key", pipe, sandbox.directory("secret")]] {
            let answer = try run(["timeout", "--signal=KILL", "1m", sandbox.binary] + arguments)
            #expect(answer.status == 66, "\(arguments): \(answer)")
            #expect(
                answer.complaints
                    == "clientsecretd: \(pipe) cannot be read: it is not a regular file; name a regular file\n")
        }
        // A shell's own pipes end with the program that writes into them; they are read whole, however slowly they are written.
        let script = """
            "$0" inspect --json --key <(sleep 0.1; head -c 50 \(sandbox.key); sleep 0.2; tail -c +51 \(sandbox.key)) \
                <(sleep 0.1; cat \(sandbox.directory("secret")))
            """
        for arguments in [
            ["bash", "-c", script, sandbox.binary],
            [
                "sh", "-c", "\"$0\" inspect --json --key \(sandbox.key) /dev/stdin <\(sandbox.directory("secret"))",
                sandbox.binary,
            ],
        ] {
            let answer = try runToSuccess(arguments)
            #expect(answer.contains("\"signature_verified\":true"), "\(answer)")
        }
    }

    // MARK: The command line

    @Test(.needs(.tools)) func aPreloadedLibraryMayChangeTheEnvironment() throws {
        let sandbox = try Sandbox()
        let source = try sandbox.directory.write(
            """
            #include <stdlib.h>
            __attribute__((constructor)) static void begin(void) { setenv("AGENT", "here", 1); }
            """, to: "agent.c")
        let library = sandbox.directory("agent.so")
        try runToSuccess(["cc", "-shared", "-fPIC", "-o", library, source])
        let environment = ["LD_PRELOAD": library]
        let version = try run([sandbox.binary, "--version"], environment: environment)
        #expect(version.status == 0 && version.output.first?.isNumber == true, "\(version)")
        let health = try run(
            [sandbox.binary, "health", "--socket", sandbox.socket, "--config", sandbox.directory("nothing.yaml")],
            environment: environment)
        #expect(health.status == 3, "\(health)")
        #expect(health.output.hasPrefix("CLIENTSECRETD UNKNOWN"), "\(health)")
        let unknown = try run([sandbox.binary, "healht"], environment: environment)
        #expect(unknown.status == 64)
        #expect(unknown.complaints.contains("\"healht\""), "\(unknown.complaints)")
    }

    /// Whoever lost the arguments on the way, such as a monitoring system, is not to take that for an answer.
    @Test(arguments: ["(None,)", "(b'clientsecretd', None)"]) func withoutACommandItFails(words: String) throws {
        let sandbox = try Sandbox()
        // Also with no word at all, not even the program's name.
        let start = """
            import ctypes, sys
            words = \(words)
            ctypes.CDLL(None).execv(sys.argv[1].encode(), (ctypes.c_char_p * len(words))(*words))
            """
        let answer = try run(["/usr/bin/python3", "-c", start, sandbox.binary])
        #expect(answer.status == 64)
        #expect(answer.output == "")
        #expect(answer.complaints == "clientsecretd: no command given; to list the commands: clientsecretd --help\n")
    }
}
