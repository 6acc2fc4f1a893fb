import AppleClientSecret
import Failures
import Foundation
import Keys
import Linux
import Model
import Outputs
import TestSupport
import Testing

/// Which former outputs are said to hold a secret still.
@Suite struct OrphanSearchTests {
    private let scratch: TemporaryDirectory
    private let publisher: Publisher
    private let search: OrphanSearch
    private let secret: Secret

    init() throws {
        scratch = try TemporaryDirectory()
        publisher = Samples.publisher()
        search = OrphanSearch(by: publisher) { TokenReader.read($0, keys: [])?.claims.expiresAt }
        secret = try Samples.secret()
    }

    private func place(_ name: String, _ variable: String? = nil) throws -> OutputPlace {
        OutputPlace(path: try Samples.path(scratch(name)), slot: variable.map(FileSlot.variable) ?? .whole)
    }

    private func publish(_ name: String, _ format: FileFormat, variables: [String] = ["SECRET"]) throws {
        let file = try Samples.file(scratch(name), format, variables: variables)
        _ = try publisher.publish(Dictionary(uniqueKeysWithValues: file.slots.keys.map { ($0, secret) }), in: file)
    }

    private func found(
        among former: Set<OutputPlace>, excluding outputs: Set<OutputPlace> = []
    ) -> [OrphanedOutput] {
        search.orphans(among: former, excluding: outputs)
    }

    @Test func aSecretIsFoundInEveryFormat() throws {
        try publish("a.jwt", .raw)
        try publish("b.json", .json)
        try publish("c.env", .env)
        try scratch.write("A=1\n", to: "d.env")
        try publish("d.env", .env)
        let former = [
            try place("a.jwt"), try place("b.json"), try place("c.env", "SECRET"), try place("d.env", "SECRET"),
        ]
        let expiresAt = secret.issued.claims.expiresAt
        #expect(
            found(among: Set(former))
                == former.map {
                    OrphanedOutput(place: $0, expiresAt: expiresAt, isShared: $0.path.description.hasSuffix("d.env"))
                })
        #expect(found(among: Set(former), excluding: Set(former)).isEmpty)
    }

    /// The file is an output still, in another format.
    @Test func aFileThatChangedItsFormatIsNotToBeRemoved() throws {
        let (whole, variable) = (try place("app.env"), try place("app.env", "SECRET"))
        try publish("app.env", .env)
        #expect(found(among: [whole], excluding: [variable]).isEmpty)
        let text = "FORMER=" + secret.token.withBytes { String(decoding: $0, as: UTF8.self) } + "\n"
        try scratch.write(text, to: "app.env")
        try publish("app.env", .env)
        #expect(found(among: [whole], excluding: [variable]).map(\.isShared) == [true])
    }

    @Test func anUnreadFileThatIsAnotherOutputIsNotToBeRemoved() throws {
        try FileManager.default.createDirectory(atPath: scratch("open"), withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scratch("open"))
        try scratch.write("A=1\n", to: "open/app.env")
        let (whole, variable) = (try place("open/app.env"), try place("open/app.env", "SECRET"))
        #expect(found(among: [whole], excluding: [variable]).map(\.isShared) == [true])
        #expect(found(among: [whole]).map(\.isShared) == [false])
    }

    @Test func aFileWithoutASecretIsNotNamed() throws {
        try scratch.write("hello\n", to: "text")
        try scratch.write("SECRET=hello\n", to: "app.env")
        try scratch.folder("directory")
        try #require(run(["mkfifo", scratch("fifo")]).status == 0)
        let former = [
            try place("text"), try place("app.env", "SECRET"), try place("app.env", "OTHER"), try place("directory"),
            try place("fifo"), try place("gone"), try place("gone/below"), try place("text/below"),
        ]
        #expect(found(among: Set(former)).isEmpty)
    }

    @Test func theFileOfAnOutputByAnotherNameIsNotNamed() throws {
        try publish("web.jwt", .raw)
        try scratch.link("link", to: "web.jwt")
        #expect(found(among: [try place("link")], excluding: [try place("web.jwt")]).isEmpty)
        #expect(found(among: [try place("link")]).map(\.place) == [.file(try place("link"))])
    }

    @Test func aFormerVariableNextToOneInUseIsNamed() throws {
        try publish("app.env", .env, variables: ["OLD", "NEW"])
        let found = found(
            among: [try place("app.env", "OLD"), try place("app.env", "NEW")], excluding: [try place("app.env", "NEW")])
        #expect(
            found == [
                OrphanedOutput(
                    place: try place("app.env", "OLD"), expiresAt: secret.issued.claims.expiresAt, isShared: true)
            ])
    }

    /// Only the other variable has been written so far.
    @Test func aFileThatIsAnOutputIsNotToBeRemoved() throws {
        try publish("app.env", .env, variables: ["OLD"])
        let found = found(among: [try place("app.env", "OLD")], excluding: [try place("app.env", "NEW")])
        #expect(found.map(\.isShared) == [true])
        #expect(found.first?.remedy == .say("when nothing reads it, remove OLD from the file"))
    }

    /// Others read it perhaps, where the daemon does not.
    @Test func anUnreadableFileMayHoldASecret() throws {
        try scratch.folder("open")
        try publish("open/web.jwt", .raw)
        try publish("open/app.env", .env)
        try scratch.permit(0o777, "open")
        let former = [try place("open/app.env", "SECRET"), try place("open/web.jwt")]
        #expect(
            found(among: Set(former))
                == former.map { OrphanedOutput(place: $0, expiresAt: nil, isShared: $0.variable != nil) })
    }
}
