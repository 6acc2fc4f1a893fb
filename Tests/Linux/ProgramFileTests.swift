import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Linux

/// Why a program cannot be executed; each verdict is compared with what Linux does.
@Suite struct ProgramFileTests {
    private let scratch: TemporaryDirectory
    private static let path = "/usr/bin:/bin"

    init() throws { scratch = try TemporaryDirectory() }

    private func problem(_ content: [UInt8]) throws -> (found: ProgramProblem?, hasRun: Bool) {
        let (path, source) = (scratch("program"), scratch("content"))
        try Data(content).write(to: URL(fileURLWithPath: source))
        // Linux does not execute a file that is open for writing, and a child of another test may have inherited it. `install`
        // makes a new file each time, in a process that has no children.
        try #require(try run(["install", "--mode=755", source, path]).status == 0)
        let ended = try? ChildProcess.run([path], environment: ["PATH": Self.path], timeout: 60_000).ending
        let hasRun = ended == .exited(0)
        return (ProgramFile(path, searchPath: Self.path).problem(), hasRun)
    }

    private func problem(_ text: String) throws -> (found: ProgramProblem?, hasRun: Bool) {
        try problem(Array(text.utf8))
    }

    @Test func aProgramThatRunsHasNoFault() throws {
        for text in [
            "#!/bin/sh\ntrue\n", "#! /bin/sh -e\ntrue\n", "#!/usr/bin/env sh\ntrue\n",
            "#!/usr/bin/env -S sh -e\ntrue\n",
            "#!bin/sh\n", "#!/bin/sh",
        ] {
            let (found, hasRun) = try problem(text)
            #expect(hasRun && found == nil, "\(text)")
        }
        let (found, hasRun) = try problem(Array(try Data(contentsOf: URL(fileURLWithPath: "/bin/true"))))
        #expect(hasRun && found == nil)
    }

    @Test(arguments: [
        ("#!/bin/sh\r\ntrue\r\n", ProgramProblem.carriageReturn), ("#!/usr/bin/env sh\r\n", .carriageReturn),
        ("#!/usr/bin/nosuch\ntrue\n", .interpreterMissing("/usr/bin/nosuch")),
        ("#!/etc/passwd\n", .interpreterNotExecutable("/etc/passwd")),
        ("#!/etc\n", .interpreterNotExecutable("/etc")), ("\u{FEFF}#!/bin/sh\ntrue\n", .byteOrderMark),
        ("#!/usr/bin/env nosuchprogram\n", .notFoundByEnv("nosuchprogram")),
        ("#!/usr/bin/env sh -e\n", .notFoundByEnv("sh -e")),
        ("#!/usr/bin/env -S nosuch -u\n", .notFoundByEnv("nosuch")),
        ("true\n", .noFormat), ("", .noFormat), ("#!\n", .noFormat),
    ])
    func faultsOfProgramsAreDistinguished(text: String, expected: ProgramProblem) throws {
        let (found, hasRun) = try problem(text)
        #expect(!hasRun && found == expected)
    }

    /// Before it has failed.
    @Test(arguments: ["echo hi\n", "", "# Grüße\n\ttrue\n"])
    func aTextThatIsNoScriptIsForeseen(text: String) throws {
        try scratch.write(text, to: "program", mode: 0o755)
        #expect(ProgramFile(scratch("program"), searchPath: Self.path).problem() == .noFormat)
    }

    // MARK: Compiled programs

    private func compiled() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: "/bin/true"))) }

    /// As one for musl on a machine with another C library.
    @Test func aMissingLoaderIsNamed() throws {
        var bytes = try compiled()
        let name = try #require(bytes.firstRange(of: Array("/ld-linux".utf8)))
        bytes[name.lowerBound + 1] = UInt8(ascii: "x")
        let (found, hasRun) = try problem(bytes)
        guard case .loaderMissing(let loader)? = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(!hasRun && loader.contains("/xd-linux"))
    }

    /// Linux may have learned to run it (binfmt_misc), so that nothing is known before it was refused.
    @Test func aProgramForAnotherMachineIsNamed() throws {
        var bytes = try compiled()
        bytes[18] = bytes[18] == 62 ? 183 : 62
        #expect(try problem(bytes).found == nil)
        let file = ProgramFile(scratch("program"), searchPath: Self.path)
        #expect(file.problem(after: .execFormatError) == .otherMachine)
    }

    /// Anybody may have written its header.
    @Test func anyHeaderIsJudged() throws {
        let whole = try compiled()
        var random = SeededGenerator()
        for _ in 0..<1_000 {
            var bytes = Array(whole.prefix(Int.random(in: 6...4_096, using: &random)))
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 6..<1_000, using: &random)
                if place < bytes.count { bytes[place] = .random(in: 0...255, using: &random) }
            }
            try Data(bytes).write(to: URL(fileURLWithPath: scratch("program")))
            let found = ProgramFile(scratch("program"), searchPath: Self.path).problem()
            if case .loaderMissing? = found { continue }
            #expect(found == nil || found == .noFormat, "seed \(random.seed)")
        }
    }

    @Test(.needs(.root)) func aMountWithoutExecutionIsDistinguished() throws {
        let place = scratch("noexec")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try #require(try TestSupport.run(["mount", "-t", "tmpfs", "-o", "noexec,mode=755", "none", place]).status == 0)
        defer { _ = try? TestSupport.run(["umount", place]) }
        try scratch.write("#!/bin/sh\ntrue\n", to: "noexec/program", mode: 0o755)
        #expect(ProgramFile(scratch("noexec/program"), searchPath: Self.path).problem() == .mountedNoexec)
    }

    @Test func theInterpretersOfAScriptAreKnown() throws {
        try scratch.write("#!/bin/sh\n", to: "interpreter", mode: 0o755)
        try scratch.write("#!\(scratch("interpreter")) -x\n", to: "script", mode: 0o755)
        let interpreters = ProgramFile(scratch("script"), searchPath: Self.path).interpreters
        #expect(interpreters == [scratch("interpreter"), "/bin/sh"])
    }
    /// A program in an earlier directory would be found first.
    @Test func allPlacesWhereEnvLooksAreKnown() throws {
        try scratch.folder("one")
        try scratch.folder("two")
        try scratch.write("#!/bin/sh\n", to: "two/tool", mode: 0o755)
        let path = "\(scratch("one")):\(scratch("two")):/bin"
        for line in [
            "#!/usr/bin/env tool\n", "#!/usr/bin/env -S -i A=1 tool -x\n", "#!/usr/bin/env -S -u FOO tool\n",
            "#!/usr/bin/env -S -uFOO tool\n", "#!/usr/bin/env -S -C /tmp -i tool x\n", "#!/usr/bin/env -Stool x\n",
            "#!/usr/bin/env -S --unset FOO --chdir /tmp tool\n", "#!/usr/bin/env -S --unset=FOO A=1 tool\n",
            "#!/usr/bin/env -vS -iu FOO tool\n", "#!/usr/bin/env --split-string=tool x\n",
        ] {
            try scratch.write(line, to: "script", mode: 0o755)
            let file = ProgramFile(scratch("script"), searchPath: path)
            #expect(file.interpreters == ["/usr/bin/env", scratch("two/tool"), "/bin/sh"], "\(line)")
            #expect(file.deciding == ["/usr/bin/env", scratch("one/tool"), scratch("two/tool"), "/bin/sh"])
        }
    }
}
