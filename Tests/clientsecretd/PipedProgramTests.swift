import Testing

@testable import clientsecretd

@Suite struct PipedProgramTests {
    /// As `check --json` does for more clients than are promised.
    @Test(.timeLimit(.minutes(1))) func aProgramThatPrintsTooMuchEnds() async {
        // The run changes what SIGPIPE does to the process.
        await #expect(processExitsWith: .success) {
            let (_, output) = try PipedProgram.run(["/bin/sh", "-c", "exec head -c 9000000 /dev/zero"], input: [])
            #expect(output == nil)
        }
    }
}
