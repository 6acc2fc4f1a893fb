import AppleClientSecret
import Failures
import Foundation
import Keys
import Model
import TestSupport
import Testing

@testable import Daemon

/// Which private keys the daemon has in memory.
@Suite struct KeyCacheTests {
    private let cache = KeyCache()
    private let apple: KeyName
    private let other: KeyName
    private let key: SigningKey

    init() throws {
        apple = try #require(KeyName("apple"))
        other = try #require(KeyName("other"))
        let directory = try TemporaryDirectory()
        let path = directory("key.p8")
        let made = try run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path])
        try #require(made.status == 0, "\(made.complaints)")
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        key = try SigningKey(descriptor: file.fileDescriptor, place: .key(apple))
    }

    @Test func aRemovedKeySignsNoMore() {
        cache.put(key, as: apple)
        cache.put(key, as: other)
        cache.keepOnly([other])
        #expect(cache.signingKey(apple) == nil)
        #expect(cache.signingKey(other) != nil)
    }

    @Test func norDoesOneThatWasReadDuringTheReload() {
        cache.keepOnly([other])
        cache.put(key, as: apple)
        #expect(cache.signingKey(apple) == nil)
        cache.keepOnly([apple])
        cache.put(key, as: apple)
        #expect(cache.signingKey(apple) != nil)
    }

    /// systemd passes the file of a credential only at a start, whatever the entry is called.
    @Test func aCredentialSignsUnderNoOtherKeyIDAlsoUnderAnotherName() throws {
        func entry(_ id: String) throws -> KeyConfiguration {
            KeyConfiguration(
                team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID(id)),
                location: .credential("apple-key"))
        }
        let (old, new) = (try entry("OLDKEYID11"), try entry("NEWKEYID22"))
        cache.keepOnly([apple])
        #expect(cache.objection(to: key.print, of: old, as: apple) == nil)
        cache.keepOnly([other])
        #expect(cache.objection(to: key.print, of: old, as: other) == nil)
        #expect(cache.objection(to: key.print, of: new, as: other)?.code == .credentialMissing)
    }

    @Test func itsSignaturesCanStillBeVerified() {
        cache.put(key, as: apple)
        cache.keepOnly([])
        cache.put(key, as: apple)
        #expect(cache.publicKeys.map(\.print) == [key.print])
        #expect(cache.publicKey(key.print) != nil)
    }
}
