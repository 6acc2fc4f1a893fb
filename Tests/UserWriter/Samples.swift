import AppleClientSecret
import Config
import Digest
import Foundation
import Linux
import Model
import Outputs
import TestSupport
import Testing

@testable import UserWriter

/// A configuration with files of several users, and requests about them.
enum Samples {
    static func configuration() throws -> Configuration {
        let path = try #require(AbsolutePath("/etc/c.yaml"))
        let file = SourceFile(name: "c.yaml", path: path, realPath: path, bytes: Array(SampleText.severalUsers.utf8))
        return try ConfigurationParser.parse(main: file).get().configuration
    }

    static func token(
        _ client: String = "com.example.web", team: String = "DEF123GHIJ", key: String = "ABC123DEFG"
    ) throws -> Token {
        Token(Claims.sample(of: client, team: team, keyID: key).sampleToken())
    }

    /// The file of user app, with the one of its variables that is the client web's.
    static func file() throws -> FileSpec {
        let path = try #require(AbsolutePath("/srv/app/.env"))
        let spec = try #require(try configuration().files[path])
        return FileSpec(
            path: path, format: spec.format, mode: spec.mode, group: spec.group, owner: spec.owner,
            slots: spec.slots.filter { $0.key == .variable("SECRET") })
    }

    static func publication() throws -> WriterRequest {
        var request = WriterRequest(.publish, try file(), secrets: [.variable("SECRET"): try token()])
        request.mayCreate = true
        request.tag = "0123456789abcdef"
        return request
    }

    static func line(_ text: String) -> [UInt8] { Array("\(text)\n".utf8) }
}
