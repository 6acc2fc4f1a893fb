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
    /// An entry of any key.
    private let entry: KeyConfiguration

    init() throws {
        apple = try #require(KeyName("apple"))
        other = try #require(KeyName("other"))
        let directory = try TemporaryDirectory()
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: directory.makeKey("key.p8")))
        defer { try? file.close() }
        key = try SigningKey(descriptor: file.fileDescriptor, place: .key(apple))
        entry = try Self.entry("OLDKEYID11")
    }

    private static func entry(_ id: String, credential: String = "apple-key") throws -> KeyConfiguration {
        KeyConfiguration(
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID(id)), location: .credential(credential))
    }

    @Test func aRemovedKeySignsNoMore() {
        cache.put(key, as: apple)
        cache.put(key, as: other)
        cache.keepOnly([other: entry])
        #expect(cache.signingKey(apple) == nil)
        #expect(cache.signingKey(other) != nil)
    }

    @Test func norDoesOneThatWasReadDuringTheReload() {
        cache.keepOnly([other: entry])
        cache.put(key, as: apple)
        #expect(cache.signingKey(apple) == nil)
        cache.keepOnly([apple: entry])
        cache.put(key, as: apple)
        #expect(cache.signingKey(apple) != nil)
    }

    /// systemd passes the file of a credential only at a start, whatever the entry is called.
    @Test func aCredentialSignsUnderNoOtherKeyIDAlsoUnderAnotherName() throws {
        let new = try Self.entry("NEWKEYID22")
        cache.keepOnly([apple: entry])
        #expect(cache.objection(to: key.print, of: entry) == nil)
        cache.keepOnly([other: new])
        #expect(cache.objection(to: key.print, of: entry) == nil)
        #expect(cache.objection(to: key.print, of: new)?.code == .credentialMissing)
        // The old name may stay, for a key that is elsewhere now.
        cache.keepOnly([apple: try Self.entry("OLDKEYID11", credential: "old-key"), other: new])
        #expect(cache.objection(to: key.print, of: new)?.code == .credentialMissing)
    }

    /// A reload may remove either entry, and may give none of them another id.
    @Test func aCredentialMaySignUnderAllIDsThatItHadAtTheStart() throws {
        let second = try Self.entry("SECONDID22")
        cache.keepOnly([apple: entry, other: second])
        #expect(cache.objection(to: key.print, of: entry) == nil)
        #expect(cache.objection(to: key.print, of: second) == nil)
        cache.keepOnly([other: second])
        #expect(cache.objection(to: key.print, of: second) == nil)
        let new = try Self.entry("NEWKEYID33")
        cache.keepOnly([apple: entry, other: new])
        #expect(cache.objection(to: key.print, of: new)?.code == .credentialMissing)
    }

    @Test func itsSignaturesCanStillBeVerified() {
        cache.put(key, as: apple)
        cache.keepOnly([:])
        cache.put(key, as: apple)
        #expect(cache.publicKeys.map(\.print) == [key.print])
        #expect(cache.publicKey(key.print) != nil)
    }
}
