import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Linux

@Suite(.needs(.root)) struct TemporaryNamesTests {
    private let own = "0123456789abcdef"
    private let random = "00112233445566778899aabbccddeeff"

    @Test func namesAreHiddenFreshAndEndUnlikeTheTarget() throws {
        let naming = try #require(TemporaryNames(tag: own))
        var seen: Set<FilePath.Component> = []
        for (target, ending) in [("web.env", ".tmp"), ("web.json", ".tmp"), ("web", ".tmp"), ("web.tmp", ".part")] {
            let name = try naming.next(for: try #require(FilePath.Component(target)))
            #expect(name.string.hasPrefix(".clientsecretd-\(own)-"))
            #expect(name.string.hasSuffix(ending))
            #expect(name.string.utf8.count == ".clientsecretd-\(own)-\(random)".utf8.count + ending.utf8.count)
            seen.insert(name)
        }
        #expect(seen.count == 4)
        #expect(TemporaryNames() != TemporaryNames())
    }

    @Test func aTagIsSixteenHexadecimalDigits() throws {
        #expect(TemporaryNames(tag: TemporaryNames().tag) != nil)
        for tag in ["", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "../3456789abcdef"] {
            #expect(TemporaryNames(tag: tag) == nil)
        }
    }

    @Test func onlyOwnLeftoversAreSwept() throws {
        let room = try Room()
        let naming = try #require(TemporaryNames(tag: own))
        let leftovers = [".clientsecretd-\(own)-\(random).tmp", ".clientsecretd-\(own)-\(random).part"]
        let others = [
            ".clientsecretd-0123456789abcdee-\(random).tmp", ".clientsecretd-\(own)-\(random).env",
            ".clientsecretd-\(own)-\(random)0.tmp", ".clientsecretd-\(own)-.tmp", "\(own)-\(random).tmp",
            ".clientsecretd-\(own)-\(random.uppercased()).tmp", "f", ".clientsecretd-\(own)-\(random).tmp~",
        ]
        for name in leftovers + others { try room.file(name) }
        let digits = Array("0123456789abcdef")
        let reversed = String(random.reversed())
        let folder = ".clientsecretd-\(own)-\(reversed).tmp"
        try room.folder(folder)
        let foreign = ".clientsecretd-\(own)-\(String(repeating: digits[9], count: 32)).tmp"
        try room.file(foreign, owner: Room.otherUser)
        let link = ".clientsecretd-\(own)-\(String(repeating: digits[8], count: 32)).tmp"
        try room.link(link, to: "f")
        try room.folder("elsewhere")
        try room.link("elsewhere/f", to: "../f")
        #expect(try naming.sweep(beside: room("elsewhere/f"), as: Room.root) == 2)
        #expect(try room.names() == (others + [folder, foreign, link, "elsewhere"]).sorted())
        #expect(try naming.sweep(beside: room("elsewhere/f"), as: Room.root) == 0)
    }

    /// A directory may be reached by several paths, and is swept by each.
    @Test func aFileThatIsBeingWrittenIsNotSwept() throws {
        let room = try Room()
        let naming = try #require(TemporaryNames(tag: own))
        let place = try GuardedWalk.place(room("web.jwt"), .publishing, as: Room.root)
        let name: String
        do {
            let temporary = try TemporaryFile(for: place.name, in: place.directory, naming: naming)
            let removed = try naming.sweep(beside: room("web.jwt"), as: Room.root)
            #expect(removed == 0)
            name = temporary.name.string
            #expect(try room.names() == [name])
        }
        // As if the process had been killed before it removed it.
        try room.file(name)
        #expect(try naming.sweep(beside: room("web.jwt"), as: Room.root) == 1)
        #expect(try room.names() == [])
    }
}
