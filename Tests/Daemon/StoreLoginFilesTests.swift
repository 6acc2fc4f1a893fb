import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Rotation
import Store
import TestSupport
import Testing

@testable import Daemon

/// What `check` finds in the files with which a machine logs in to etcd.
struct StoreLoginFilesTests {
    private let directory: TemporaryDirectory
    private let now = WallTime(secondsSinceEpoch: Int64(Date().timeIntervalSince1970))

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func shell(_ script: String) throws {
        try runToSuccess(["sh", "-euc", script], directory: directory.path)
    }

    private func certificate(days: Int, subject: String = "/O=Tests") throws {
        try shell(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days \(days) -subj '\(subject)' "
                + "-keyout client.key -out client.pem 2>/dev/null")
    }

    private func failures(
        user: String? = nil, _ files: [StoreConfiguration.File: String] = [:], after days: Int64 = 0
    ) -> [Failure] {
        StoreLoginFiles.failures(
            of: StoreConfiguration(endpoints: ["https://etcd1:2379"], user: user, files: files),
            in: directory.path, as: .current(), readBy: .current(), at: now + Seconds(days * 86_400))
    }

    @Test func filesInOrderAreNotNamed() throws {
        #expect(failures() == [])
        try certificate(days: 100)
        try shell("echo secret >password")
        #expect(failures(user: "app17") == [])
    }

    @Test func aCertificateIsNamedThatHasExpiredOrIsAboutTo() throws {
        try certificate(days: 100)
        #expect(failures(after: 85) == [])
        #expect(failures(after: 87).map(\.code) == [.storeCertificateExpiring])
        let expired = failures(after: 101)
        #expect(expired.map(\.code) == [.storeCertificateRefused])
        #expect(expired.first?.message.contains("\(directory.path)/client.pem expired at ") == true)
    }

    @Test func aFileWithoutAuthoritiesIsNamed() throws {
        try shell("echo text >ca.pem")
        let words =
            "the store: a file for the store cannot be used: \(directory.path)/ca.pem holds no certificate in PEM"
        #expect(failures().map(\.message) == [words])
        #expect(failures([.ca: directory.path + "/ca.pem"]).map(\.message) == [words])
        try certificate(days: 100)
        try shell("cp client.pem ca.pem")
        #expect(failures() == [])
    }

    /// With users, etcd's gateway refuses such a certificate.
    @Test func aCommonNameIsNamedWhereThereIsAUser() throws {
        try certificate(days: 100, subject: "/O=Tests/CN=app17")
        try shell("echo secret >password")
        #expect(failures() == [])
        let refused = failures(user: "app17")
        #expect(refused.map(\.code) == [.storeCertificateRefused])
        #expect(refused.first?.message.contains("has the CN app17") == true)
    }

    /// Such a user decides which etcd the daemon believes, and as whom it logs in.
    @Test(.needs(.root)) func aFileThatOthersMayChangeIsNamed() throws {
        try certificate(days: 100)
        try shell("cp client.pem ca.pem; echo secret >password")
        for name in ["ca.pem", "client.pem", "client.key", "password"] {
            for (script, undo) in [("chmod o+w", "chmod o-w"), ("chown 12345", "chown 0")] {
                try shell("\(script) \(name)")
                let found = failures(user: "app17")
                #expect(found.first?.code == .storeFileNotGuarded, "\(script): \(found)")
                #expect(found.first?.detail?.hasPrefix("\(directory.path)/\(name): the file ") == true)
                try shell("\(undo) \(name)")
            }
        }
        #expect(failures(user: "app17") == [])
    }

    /// The service would log in with it.
    @Test func aPasswordThatCannotBeUsedIsNamed() throws {
        let path = directory.path + "/password"
        for (script, words) in [
            ("mkdir password", "\(path) is not a regular file"),
            ("rmdir password; echo >password", "\(path) is empty or not text"),
            ("echo '-----BEGIN PRIVATE KEY-----' >password", "\(path) holds a private key, which is never sent"),
        ] {
            try shell(script)
            for files in [[:], [StoreConfiguration.File.password: path]] {
                let found = failures(user: "app17", files)
                #expect(found.map(\.code) == [.storeFileUnusable] && found.first?.message.hasSuffix(words) == true)
            }
        }
    }

    @Test func aMissingFileIsNamed() throws {
        let path = directory.path + "/other.pem"
        let missing = failures(user: "app17", [.certificate: path])
        #expect(missing.map(\.code) == [.storeFileUnusable, .storeFileUnusable])
        #expect(missing.first?.message.contains(path) == true)
        #expect(missing.last?.message.contains("\(directory.path)/password") == true)
        try shell("echo none >client.pem; echo secret >password")
        #expect(failures(user: "app17").map(\.code) == [.storeFileUnusable])
    }

    @Test func aKeyIsNamedThatIsNotTheCertificates() throws {
        try certificate(days: 100)
        try shell("mv client.key right.key; mv client.pem right.pem")
        for type in ["RSA", "EC -pkeyopt ec_paramgen_curve:P-256"] {
            try shell("openssl genpkey -algorithm \(type) -out client.key 2>/dev/null; cp right.pem client.pem")
            #expect(failures().map(\.code) == [.storeFileUnusable])
            let words = "\(directory.path)/client.key does not belong to \(directory.path)/client.pem"
            #expect(failures().first?.message.contains(words) == true)
        }
        try shell("openssl pkey -in right.key -aes256 -passout pass:word -out client.key")
        let encrypted = failures()
        #expect(encrypted.map(\.code) == [.storeFileUnusable])
        #expect(encrypted.first?.message.contains("client.key holds no private key") == true)
        try shell("mv right.key client.key")
        #expect(failures() == [])
    }

    @Test func anRSAKeyMayBeTheCertificates() throws {
        try shell(
            "openssl req -x509 -newkey rsa:2048 -nodes -days 100 -subj /O=Tests -keyout client.key -out client.pem 2>/dev/null"
        )
        #expect(failures() == [])
    }
}
