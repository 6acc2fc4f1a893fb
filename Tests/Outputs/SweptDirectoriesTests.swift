import Foundation
import Linux
import Model
import Outputs
import TestSupport
import Testing

/// When temporaries that a killed daemon left beside outputs are removed.
@Suite struct SweptDirectoriesTests {
    private static let tag = "0123456789abcdef"
    private static let own = ".clientsecretd-\(tag)-00112233445566778899aabbccddeeff.tmp"
    private static let foreign = ".clientsecretd-fedcba9876543210-00112233445566778899aabbccddeeff.tmp"

    private let scratch: TemporaryDirectory
    private let sweptDirectories: SweptDirectories

    init() throws {
        scratch = try TemporaryDirectory()
        sweptDirectories = SweptDirectories(
            naming: try #require(TemporaryNames(tag: Self.tag)), as: .current(), reservedPaths: ReservedPaths())
    }

    private func names(_ directory: String = ".") throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: scratch(directory)))
    }

    /// Listing a directory at each write would cost more than the write.
    @Test func aDirectoryIsSweptOnce() throws {
        for name in [Self.own, Self.foreign, "web.jwt"] { try scratch.write("", to: name) }
        sweptDirectories.sweep(beside: try Samples.path(scratch("web.jwt")))
        #expect(try names() == [Self.foreign, "web.jwt"])
        try scratch.write("", to: Self.own)
        sweptDirectories.sweep(beside: try Samples.path(scratch("other.jwt")))
        #expect(try names() == [Self.own, Self.foreign, "web.jwt"])
    }

    /// A link in a directory that was swept may lead to one that was not.
    @Test func theDirectoryOfALinksTargetIsSweptToo() throws {
        try scratch.folder("other")
        try scratch.link("link.jwt", to: "other/web.jwt")
        sweptDirectories.sweep(beside: try Samples.path(scratch("web.jwt")))
        try scratch.write("", to: "other/" + Self.own)
        sweptDirectories.sweep(beside: try Samples.path(scratch("link.jwt")))
        #expect(try names("other").isEmpty)
    }

    /// Its writers run side by side, and each would look at what another is writing.
    @Test func eachUsersWriterSweepsADirectoryOnce() throws {
        let output = try Samples.path(scratch("web.env"))
        func isFirst(_ user: String?) -> Bool { sweptDirectories.first(beside: output, of: user) { $0 } }
        #expect(isFirst("app") && isFirst("web") && !isFirst("app") && isFirst(nil) && !isFirst(nil))
        // A writer that could not be reached has swept nothing.
        #expect(throws: CancellationError.self) {
            try sweptDirectories.first(beside: output, of: "db") { _ in throw CancellationError() }
        }
        #expect(isFirst("db") && !isFirst("db"))
    }

    @Test func aDirectoryThatCouldNotBeReadIsTriedAgain() throws {
        let output = try Samples.path(scratch("later/web.jwt"))
        sweptDirectories.sweep(beside: output)
        try scratch.folder("later")
        try scratch.write("", to: "later/" + Self.own)
        sweptDirectories.sweep(beside: output)
        #expect(try names("later").isEmpty)
    }
}
