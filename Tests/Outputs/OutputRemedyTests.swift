import Failures
import Foundation
import Linux
import Model
import Outputs
import TestSupport
import Testing

/// What is said to help where an output cannot be written, before anything is written.
@Suite(.needs(.root)) struct OutputRemedyTests {
    private let scratch: TemporaryDirectory
    private let publisher = Samples.publisher()

    init() throws { scratch = try TemporaryDirectory() }

    private func give(_ name: String, mode: Int = 0o755) throws {
        try scratch.permit(mode, name)
        try #require(run(["chown", "daemon", scratch(name)]).status == 0)
    }

    private func problem(_ name: String, group: String? = nil) throws -> Failure? {
        publisher.problem(with: try Samples.file(scratch(name), group: group), mayCreate: true)
    }

    @Test func withoutAnObstacleThereIsNoRemedy() throws {
        #expect(try problem("web.jwt") == nil)
        _ = try publisher.publish([.whole: try Samples.secret()], in: try Samples.file(scratch("web.jwt")))
        #expect(try problem("web.jwt") == nil)
        #expect(try problem("web.jwt", group: "daemon") == nil)
        #expect(try problem("web.jwt", group: "no-such-group")?.code == .unknownGroup)
    }

    @Test func aMissingDirectoryIsMadeForTheUserThatWrites() throws {
        let failure = try #require(try problem("none/web.jwt"))
        #expect(failure.code == .directoryMissing)
        // In memory it is described for the next boot as well.
        #expect(failure.remedy?.command?.hasPrefix("mkdir -m 0755 \(scratch("none"))") == true)
    }

    @Test func noDirectoryIsMadeWhereAnotherUserCouldBeFirstOrIsLetIn() throws {
        for name in ["sticky", "listed", "given"] { try scratch.folder(name) }
        try scratch.permit(0o1777, "sticky")
        for (name, entry) in [("listed", "u:daemon:rx"), ("given", "d:u:daemon:rwx")] {
            try #require(run(["setfacl", "-m", entry, scratch(name)]).status == 0)
        }
        for name in ["sticky", "listed", "given"] {
            let remedy = try #require(try problem("\(name)/none/web.jwt")?.remedy)
            #expect(remedy.command == nil)
            #expect(remedy.words?.contains("others may create files in \(scratch(name)), or") == true, "\(remedy)")
        }
    }

    @Test(arguments: ["way/web.jwt", "way/deeper/web.jwt", "end.jwt"])
    func nothingIsCreatedOverALinkThatLeadsNowhere(name: String) throws {
        for (link, target) in [("way", "none"), ("end.jwt", "none/x.jwt")] {
            try scratch.link(link, to: scratch(target))
        }
        let failure = try #require(try problem(name))
        #expect(failure.code == .directoryMissing)
        #expect(failure.remedy?.words?.hasPrefix("a link leads to a directory that does not exist") == true)
        #expect(failure.remedy?.command == nil)
    }

    /// The directory leads there, so whoever may write to it could have chosen the file.
    @Test func anotherUsersFileIsWrittenAsThatUserUnlessAStrangerMayHavePutItThere() throws {
        try scratch.write("x", to: "web.jwt")
        try give("web.jwt", mode: 0o644)
        let theirs = try #require(try problem("web.jwt"))
        #expect(theirs.code == .foreignOwner)
        #expect(theirs.remedy?.words?.hasPrefix("write \"as: daemon\" under this output") == true)
        // What has to be written first makes it no command.
        #expect(theirs.remedy?.command == nil)

        try scratch.folder("shared")
        try scratch.write("x", to: "shared/web.jwt")
        try give("shared/web.jwt", mode: 0o644)
        try scratch.permit(0o1777, "shared")
        let strangers = try #require(try problem("shared/web.jwt"))
        #expect(strangers.remedy == .strangers(scratch("shared/web.jwt")))
    }

    @Test func anotherUsersDirectoryIsWrittenToAsThatUserUnlessAStrangerMayHavePutItThere() throws {
        for name in ["theirs", "shared", "shared/theirs"] { try scratch.folder(name) }
        try give("theirs")
        try give("shared/theirs")
        try scratch.permit(0o1777, "shared")
        let theirs = try #require(try problem("theirs/web.jwt"))
        #expect(theirs.remedy?.words?.hasPrefix("write \"as: daemon\" under this output") == true)
        let strangers = try #require(try problem("shared/theirs/web.jwt"))
        #expect(strangers.remedy == .strangers(scratch("shared/theirs")))
    }

    @Test func anErrorOfAFormatNamesItsLine() throws {
        let file = try Samples.file(scratch("app.yaml"), FileFormat(name: "template", parameter: "{{client_secret"))
        try scratch.write("a: eyJhbGciOiJFUzI1NiJ9\n", to: "app.yaml")
        let failure = #expect(throws: Failure.self) { try publisher.observe(file) }
        #expect(failure?.code == .outputMalformed)
        #expect(failure?.detail?.hasPrefix(#"line 1: a "{{" is not closed"#) == true)
    }

    /// What cannot be read back must not be taken for a missing file either.
    @Test func anotherFormatThanThoseOfTheRegistryIsRefused() throws {
        let file = try Samples.file(scratch("web.jwt"), FileFormat(name: "none"))
        let failure = #expect(throws: Failure.self) {
            try publisher.publish([.whole: try Samples.secret()], in: file)
        }
        #expect(failure?.code == .outputMalformed)
        #expect(failure?.detail == "the format none is not known")
        #expect(failure?.remedy?.words?.hasPrefix("restart the program that writes the file") == true)
        #expect(!FileManager.default.fileExists(atPath: scratch("web.jwt")))
    }
}
