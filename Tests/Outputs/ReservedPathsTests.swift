import Failures
import Foundation
import Linux
import Model
import TestSupport
import Testing

@testable import Outputs

/// What must never be written over, reached by every way that an output's path can lead there.
@Suite struct ReservedPathsTests {
    private let scratch: TemporaryDirectory
    private let reservedPaths = ReservedPaths()
    private let publisher: Publisher

    init() throws {
        scratch = try TemporaryDirectory()
        publisher = Samples.publisher(reservedPaths)
    }

    private func draw(inputs: [String], outputs: [String] = []) throws {
        reservedPaths.set(
            inputs: Set(try inputs.map { try Samples.path(scratch($0)) }),
            outputs: Set(try outputs.map { try Samples.path(scratch($0)) }), state: scratch("state"))
    }

    /// Expects `name` to be refused with this code, by a look ahead and by the write itself.
    private func refuses(
        _ name: String, _ code: Failure.Code, as kind: FileFormat = .raw, detail: String? = nil, remedy: Remedy? = nil
    ) throws {
        let file = try Samples.file(scratch(name), kind)
        let failure = Failure(code, at: .path(file.path), detail: detail, remedy: remedy)
        let slot = kind == .env ? FileSlot.variable("SECRET") : .whole
        #expect(publisher.problem(with: file, mayCreate: true) == failure)
        #expect(throws: failure) { try publisher.publish([slot: try Samples.secret()], in: file) }
    }

    @Test func anInputIsNeverAnOutput() throws {
        try scratch.write("not even a key", to: "key.p8")
        try scratch.link("link", to: "key.p8")
        try scratch.link("here", to: ".")
        try draw(inputs: ["key.p8", "later.p8"])
        for name in ["key.p8", "link", "here/key.p8"] { try refuses(name, .outputIsInput) }
        try refuses("link", .outputIsInput, as: .env)
        try refuses("later.p8", .outputIsInput)
        try refuses("here/later.p8", .outputIsInput)
        #expect(try scratch.read("key.p8") == "not even a key")
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: scratch.path)) == ["key.p8", "link", "here"])
    }

    /// What replaces a file by renaming frees its inode, which the file system may give to an output next.
    @Test(arguments: ["clientsecretd.yaml", "key.p8"])
    func theInodeOfAReplacedInputIsFreeForOutputs(input: String) throws {
        try scratch.write("what was read", to: input)
        try draw(inputs: [input], outputs: ["web.jwt", "metrics.prom"])
        reservedPaths.note(try Samples.path(scratch(input)))
        // The same as the reuse, without waiting for the file system to do it.
        let output = try Samples.file(scratch("web.jwt"))
        try FileManager.default.moveItem(atPath: scratch(input), toPath: scratch("web.jwt"))
        try scratch.write("# HELP clientsecretd_state", to: input)
        #expect(publisher.problem(with: output, mayCreate: true) == nil)
        #expect(try publisher.replaces([.whole: try Samples.secret()], in: output))

        reservedPaths.note(try Samples.path(scratch(input)))
        try FileManager.default.moveItem(atPath: scratch(input), toPath: scratch("metrics.prom"))
        try scratch.write("what replaced that", to: input)
        let metrics = try Samples.metricsFile(scratch("metrics.prom"), reservedPaths)
        #expect(metrics.problem() == nil)
        try metrics.write(Array("# HELP clientsecretd_state".utf8))

        // What it is now is protected all the same, by every name.
        try scratch.link("link", to: input)
        try refuses("link", .outputIsInput)
        #expect(try scratch.read(input) == "what replaced that")
    }

    /// A file system that hangs would else be asked anew with every reload, by one thread more each time.
    @Test func aPathThatIsBeingLookedAtIsNotLookedAtAgainAfterAReload() throws {
        let looks = QuietMutex(0)
        let (begun, answer, written) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let reservedPaths = ReservedPaths { path in
            looks.withLock { $0 += 1 }
            begun.signal()
            answer.wait()
            return FileStatus.following(path)
        }
        let publisher = Samples.publisher(reservedPaths)
        let inputs: Set = [try Samples.path(scratch("hangs/key.p8"))]
        let (first, second) = (try Samples.file(scratch("web.jwt")), try Samples.file(scratch("ios.jwt")))
        let secret = try Samples.secret()
        reservedPaths.set(inputs: inputs, outputs: [first.path], state: nil)
        Thread.detachNewThread {
            _ = try? publisher.publish([.whole: secret], in: first)
            written.signal()
        }
        begun.wait()
        reservedPaths.set(inputs: inputs, outputs: [first.path, second.path], state: nil)
        #expect(try publisher.replaces([.whole: secret], in: second))
        #expect(looks.withLock { $0 } == 1)
        for _ in 0..<2 { answer.signal() }
        written.wait()
    }

    @Test func nothingIsPublishedInTheStateDirectory() throws {
        try scratch.folder("state")
        try scratch.link("out", to: "state")
        try draw(inputs: [])
        try refuses("state/web.jwt", .outputIsInput)
        try refuses("out/web.jwt", .outputIsInput)
    }

    @Test func oneFileIsOneOutputs() throws {
        try scratch.link("here", to: ".")
        try draw(inputs: [], outputs: ["web.jwt", "here/web.jwt"])
        // The one that names the file itself has it, in any order of writing.
        try refuses("here/web.jwt", .sameFile, detail: scratch("web.jwt"))
        let first = try Samples.file(scratch("web.jwt"))
        #expect(try publisher.replaces([.whole: try Samples.secret()], in: first))
        try refuses("here/web.jwt", .sameFile, detail: scratch("web.jwt"))
        #expect(try publisher.replaces([.whole: try Samples.secret(1)], in: first))
        // An output that the configuration no longer has holds nothing.
        try draw(inputs: [], outputs: ["here/web.jwt"])
        let second = try Samples.file(scratch("here/web.jwt"))
        #expect(try publisher.replaces([.whole: try Samples.secret(2)], in: second))
    }

    /// By a bind mount one directory has two real paths. One output has the file, whichever comes first.
    @Test(arguments: [["a/web.jwt", "b/web.jwt"], ["b/web.jwt", "a/web.jwt"]])
    func aFileThatABindMountLeadsToIsOneOutputs(order: [String]) throws {
        for folder in ["a", "b"] { try scratch.folder(folder) }
        reservedPaths.set(mounts: try mounted("a", at: "b"))
        try draw(inputs: [], outputs: order)
        for name in order where name == "b/web.jwt" { try refuses(name, .sameFile, detail: scratch("a/web.jwt")) }
        let first = try Samples.file(scratch("a/web.jwt"))
        #expect(try publisher.replaces([.whole: try Samples.secret()], in: first))
        try refuses("b/web.jwt", .sameFile, detail: scratch("a/web.jwt"))
        // Without that mount they are two.
        reservedPaths.set(mounts: try mounted("other", at: "b"))
        #expect(publisher.problem(with: try Samples.file(scratch("b/web.jwt")), mayCreate: true) == nil)
    }

    @Test func anInputIsKnownBehindABindMount() throws {
        for folder in ["state", "b"] { try scratch.folder(folder) }
        reservedPaths.set(mounts: try mounted("state", at: "b"))
        try draw(inputs: [])
        try refuses("b/web.jwt", .outputIsInput)
        reservedPaths.set(mounts: try mounted("keys", at: "b"))
        try draw(inputs: ["keys/later.p8"])
        try refuses("b/later.p8", .outputIsInput)
    }

    /// A mount table in which one directory of the scratch space is mounted at another.
    private func mounted(_ source: String, at point: String) throws -> MountTable {
        MountTable(
            "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n21 20 8:1 \(scratch(source)) \(scratch(point)) rw - ext4 /dev/sda1 rw\n"
        )
    }

    @Test func anotherOutputsFileIsNotReadAsOnesOwn() throws {
        try scratch.link("here", to: ".")
        try scratch.link("there", to: ".")
        let (first, second) = (try Samples.file(scratch("here/web.jwt")), try Samples.file(scratch("there/web.jwt")))
        try draw(inputs: [], outputs: ["here/web.jwt", "there/web.jwt"])
        _ = try publisher.publish([.whole: try Samples.secret()], in: first)
        try draw(inputs: [], outputs: ["here/web.jwt", "there/web.jwt"])
        // Read and found unchanged, as at a restart: nothing is written.
        #expect(try publisher.observe(first).exists)
        let failure = #expect(throws: Failure.self) { try publisher.observe(second) }
        #expect(failure?.code == .sameFile)
        try refuses("there/web.jwt", .sameFile, detail: scratch("here/web.jwt"))
    }

    @Test func keysAndScriptsThatNoSettingNamesAreNotOverwritten() throws {
        try scratch.write("-----BEGIN PRIVATE KEY-----\n", to: "other.p8")
        try scratch.write("#!/bin/sh\nA=1\n", to: "script")
        try draw(inputs: [])
        let remedy = Remedy.say("write another path for this output")
        for kind in [FileFormat.raw, .json, .env] {
            try refuses("other.p8", .outputForeign, as: kind, detail: "it is PEM, such as a key", remedy: remedy)
        }
        for kind in [FileFormat.raw, .json] {
            try refuses("script", .outputForeign, as: kind, detail: "it is a program", remedy: remedy)
        }
        #expect(publisher.problem(with: try Samples.file(scratch("script"), .env), mayCreate: true) == nil)
        #expect(try scratch.read("other.p8") == "-----BEGIN PRIVATE KEY-----\n")
        #expect(try scratch.read("script") == "#!/bin/sh\nA=1\n")
    }
}
