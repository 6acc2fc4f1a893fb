import Foundation
import TestSupport
import Testing

/// What `make release` leaves, built from .build/deb, .build/tarball and .build/image-root.tar with a key of this run's own.
@Suite(.waits, .serialized, .needs(.root, .release, .debianRoot, .tools)) struct ReleaseTests {
    /// A file with a secret key, as `KEY=` takes it.
    private static func makeKey(in directory: TemporaryDirectory) throws -> String {
        let path = directory("key")
        try runToSuccess(
            [
                "bash", "-euc",
                """
                gpg --batch --quiet --passphrase '' --quick-generate-key 'A test <test@example.com>' ed25519 sign 1d
                gpg --export-secret-keys >"$0"
                gpgconf --kill all
                """, path,
            ], environment: ["GNUPGHOME": directory.path])
        return path
    }

    private static func build(_ name: String) throws -> String {
        let folder = repository + "/.build/tested-release/" + name
        let directory = try TemporaryDirectory()
        try runToSuccess([scripts + "with-signing-key", try makeKey(in: directory), scripts + "build-release", folder])
        return folder
    }

    private static let scripts = repository + "/scripts/"
    private static let first = Result { try build("first") }

    /// The release that all tests look at.
    static func folder() throws -> String { try first.get() }

    private static func sums(of folder: String) throws -> [String: String] {
        let text = try String(contentsOfFile: folder + "/SHA256SUMS", encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.components(separatedBy: "  ") }
        return Dictionary(uniqueKeysWithValues: lines.map { ($0[1], $0[0]) })
    }

    @Test func everyFileIsInTheSignedChecksums() throws {
        let folder = try Self.folder()
        let sums = "SHA256SUMS"
        try runToSuccess(["gpgv", "--keyring", "./clientsecretd.gpg", sums + ".asc", sums], directory: folder)
        try runToSuccess(["sha256sum", "--check", "--strict", "--quiet", sums], directory: folder)
        let listed = try run(["find", ".", "-type", "f", "-printf", "%P\\n"], directory: folder).output
        let files = Set(listed.split(separator: "\n").map(String.init))
        #expect(try files == Set(Self.sums(of: folder).keys).union(["SHA256SUMS", "SHA256SUMS.asc"]))
    }

    @Test func theImageRunsWithoutRightsAndStops() throws {
        try Bed.hold("image.sh", sharing: [(try Self.folder(), "/release")])
    }

    /// Packages that Package.swift pins, with licences; libraries that the packages depend on; what the image has installed.
    @Test func theSBOMNamesWhatIsLinkedLoadedAndInstalled() throws {
        struct Document: Decodable {
            struct Package: Decodable {
                let id: String
                let name: String
                let versionInfo: String
                let licenseDeclared: String

                enum CodingKeys: String, CodingKey {
                    case id = "SPDXID"
                    case name, versionInfo, licenseDeclared
                }
            }
            struct Relationship: Decodable {
                let spdxElementId: String
                let relationshipType: String
                let relatedSpdxElement: String
            }
            let packages: [Package]
            let relationships: [Relationship]
        }
        let folder = try Self.folder()
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".spdx.json") })
        let document = try JSONDecoder().decode(
            Document.self, from: Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))
        let packages = Dictionary(uniqueKeysWithValues: document.packages.map { ($0.id, $0) })
        func related(_ kind: String, to element: String) throws -> [Document.Package] {
            try document.relationships.filter { $0.relationshipType == kind && $0.spdxElementId == element }
                .map { try #require(packages[$0.relatedSpdxElement], "\($0.relatedSpdxElement)") }
        }
        let linked = try related("STATIC_LINK", to: "SPDXRef-clientsecretd")
        let manifest = try String(contentsOfFile: repository + "/Package.swift", encoding: .utf8)
        for pin in manifest.matches(of: #/\.package\(url: "[^"]*/([a-z-]+)", exact: "([0-9.]+)"\)/#) {
            #expect(
                linked.contains {
                    $0.name == pin.output.1 && $0.versionInfo == pin.output.2
                        && $0.licenseDeclared.hasPrefix("Apache-2.0")
                }, "\(pin.output.1)")
        }
        #expect(linked.contains { $0.id == "SPDXRef-swift-runtime" })
        let loaded = try related("DYNAMIC_LINK", to: "SPDXRef-clientsecretd").map(\.name)
        #expect(
            loaded.sorted() == [
                "libc6", "libcurl4", "libgcc-s1", "libssl3", "libstdc++6", "libsystemd0", "libyaml-0-2",
            ])
        let installed = try related("CONTAINS", to: "SPDXRef-image").map(\.name)
        #expect(Set(installed).isSuperset(of: loaded + ["clientsecretd", "ca-certificates"]))
    }

    @Test(.needs(.night)) func buildingAgainGivesTheSameBytesButForTheSignatures() throws {
        let again = try Self.build("again")
        defer { try? FileManager.default.removeItem(atPath: again) }
        let (one, other) = (try Self.sums(of: try Self.folder()), try Self.sums(of: again))
        // The key is another one here; a maintainer's stays.
        let signed: Set = ["apt/InRelease", "apt/Release.gpg", "clientsecretd.gpg"]
        #expect(Set(one.keys) == Set(other.keys))
        #expect(Set(one.filter { other[$0.key] != $0.value }.keys) == signed)
    }
}

/// What `make release` refuses before it builds anything.
@Suite struct ReleaseRefusalTests {
    /// Commits the scripts and these files in a repository of their own, changes it, and asks whether it is ready.
    private func readiness(
        changelog: String, program version: String = "1.2.0", then change: (TemporaryDirectory) throws -> Void
    ) throws -> Finished {
        let directory = try TemporaryDirectory()
        for name in ["scripts", "debian", "Sources/Daemon"] {
            try FileManager.default.createDirectory(atPath: directory(name), withIntermediateDirectories: true)
        }
        for name in ["scripts/release-ready", "scripts/release-notes"] {
            try FileManager.default.copyItem(atPath: repository + "/" + name, toPath: directory(name))
        }
        try directory.write("clientsecretd (1.2.0) bookworm; urgency=medium\n", to: "debian/changelog")
        try directory.write("static let current = \"\(version)\"\n", to: "Sources/Daemon/Version.swift")
        try directory.write("# Changelog\n\n" + changelog, to: "CHANGELOG.md")
        let committing = ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "a"]
        for words in [["init", "--quiet"], ["add", "."], committing] {
            try runToSuccess(["git"] + words, directory: directory.path)
        }
        try change(directory)
        return try run([directory("scripts/release-ready")])
    }

    private static let notes = "## 1.2.0, 2026-11-27\n\nNew.\n"

    @Test func acceptsACommittedVersionWithNotes() throws {
        let ready = try readiness(changelog: Self.notes) { _ in }
        #expect(ready.status == 0 && ready.complaints.isEmpty, "\(ready.complaints)")
    }

    @Test(arguments: ["CHANGELOG.md", "added"]) func refusesWhatNoCommitHas(name: String) throws {
        let ready = try readiness(changelog: Self.notes) { try $0.write("x", to: name) }
        #expect(ready.status == 1)
        #expect(ready.complaints.contains("commit or stash these changes first") && ready.complaints.contains(name))
    }

    /// A version without notes, and a program of another one.
    @Test(arguments: [
        ("## 1.1.0\n\nNew.\n", "1.2.0", "CHANGELOG.md has no section \"## 1.2.0\""),
        ("## 1.2.0-rc1\n\nNew.\n", "1.2.0", "CHANGELOG.md has no section \"## 1.2.0\""),
        ("## 1.2.0\n\n## 1.1.0\n\nNew.\n", "1.2.0", "CHANGELOG.md has no section \"## 1.2.0\""),
        (notes, "1.1.0", "another version than debian/changelog: 1.2.0"),
    ])
    func refusesAVersion(changelog: String, program: String, complaint: String) throws {
        let ready = try readiness(changelog: changelog, program: program) { _ in }
        #expect(ready.status == 1 && ready.complaints.contains(complaint), "\(ready.complaints)")
    }

    @Test(.needs(.tools)) func refusesAKeyThatCannotSign() throws {
        let directory = try TemporaryDirectory()
        for (key, complaint) in [
            ("", "say which key signs"), ("0123456789ABCDEF", "gpg has no secret key 0123456789ABCDEF"),
        ] {
            let ready = try run(
                [repository + "/scripts/with-signing-key", key, "true"], environment: ["GNUPGHOME": directory.path])
            #expect(ready.status == 1 && ready.complaints.contains(complaint), "\(ready.complaints)")
        }
    }
}
