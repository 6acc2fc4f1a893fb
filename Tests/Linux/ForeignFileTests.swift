import Failures
import Linux
import TestSupport
import Testing

@Suite(.needs(.root)) struct ForeignFileTests {
    private let room: Room

    init() throws {
        room = try Room()
        try room.file("file", "text")
        try room.link("link", to: "file")
        try room.link("loop", to: "loop")
        try room.folder("folder")
        try room.fifo("fifo")
        try room.device("device")
    }

    @Test(arguments: ["file", "link"]) func readsARegularFile(name: String) throws {
        #expect(try ForeignFile.contents(of: room(name), limit: 4) == Array("text".utf8))
        #expect(ForeignFile.read(room(name), limit: 4) == Array("text".utf8))
        #expect(ForeignFile.read(room(name), limit: 3) == nil)
    }

    @Test(arguments: [
        ("none", FailureCode.missing), ("file/below", .notADirectory), ("folder", .isDirectory),
        ("fifo", .notARegularFile),
        ("device", .notARegularFile), ("loop", .changedMeanwhile), ("file", .fileTooLarge),
    ])
    func saysWhyAFileIsNotRead(name: String, code: FailureCode) throws {
        let error = try #require(throws: FileError.self) { try ForeignFile.contents(of: room(name), limit: 3) }
        #expect(error.code == code)
    }
}
