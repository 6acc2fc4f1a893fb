import AppleClientSecret
import Failures
import Foundation
import Keys
import Linux
import Model
import TestSupport
import Testing

@Suite struct KeyLoaderTests {
    private let directory: TemporaryDirectory
    private let print: KeyDigest

    init() throws {
        directory = try TemporaryDirectory()
        print = try freshKey(in: directory).print
        try shell(
            """
            chmod 600 key
            printf 'open sesame\\n' >passphrase; chmod 600 passphrase
            openssl pkcs8 -topk8 -in key -out encrypted -v2 aes-256-cbc -passout file:passphrase; chmod 600 encrypted
            """, in: directory)
    }

    private func load(_ location: KeyConfiguration.Location, passphrase: KeyConfiguration.Location? = nil) throws
        -> SigningKey
    {
        let entry = KeyConfiguration(
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")), location: location,
            passphrase: passphrase)
        return try KeyLoader(as: .current(), credentials: AbsolutePath(directory.path)).load(entry)
    }

    private func file(_ name: String) throws -> KeyConfiguration.Location {
        .file(try #require(AbsolutePath(directory(name))))
    }

    @Test func keysAreReadFromFilesAndCredentials() throws {
        #expect(try load(try file("key")).print == print)
        #expect(try load(.credential("key")).print == print)
        #expect(try load(try file("encrypted"), passphrase: try file("passphrase")).print == print)
        #expect(try load(.credential("encrypted"), passphrase: .credential("passphrase")).print == print)
        #expect(try load(try file("key"), passphrase: try file("passphrase")).print == print)
    }

    /// The author of the key chose that work, and the daemon does it.
    @Test(.needs(.night)) func theTimeoutOfADiskDoesNotCountDecrypting() async throws {
        try shell(
            """
            openssl pkcs8 -topk8 -in key -out slow -v2prf hmacWithSHA512 -iter 4000000 -passout file:passphrase
            chmod 600 slow
            """, in: directory)
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            let entry = KeyConfiguration(
                team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")),
                location: .file(try #require(AbsolutePath(path + "/slow"))),
                passphrase: .file(try #require(AbsolutePath(path + "/passphrase"))))
            DiskTimeout.begin(seconds: 2)
            _ = try KeyLoader(as: .current(), credentials: nil).load(entry)
        }
    }

    @Test func aCredentialIsExemptFromTheRulesOnOwners() throws {
        try shell("chmod 644 key", in: directory)
        #expect(try load(.credential("key")).print == print)
    }

    /// The failure that loading throws, with its remedy, in one sentence; nil when it throws none.
    private func sentence(_ location: KeyConfiguration.Location, passphrase: KeyConfiguration.Location? = nil) throws
        -> String?
    {
        do {
            _ = try load(location, passphrase: passphrase)
            return nil
        } catch let failure as Failure {
            return failure.sentence
        }
    }

    @Test func aKeyThatOthersMayReadIsRefusedWithTheCommandThatFixesIt() throws {
        try shell("chmod 644 key passphrase", in: directory)
        let key = directory("key")
        // The daemon's own group may read a key: who runs this test decides whether the file has that group.
        let sentence = try #require(try sentence(try file("key")))
        #expect(
            ["0640", "0600"].map {
                "\(key): other users can read or replace the key: every user can read the file; remove the permissions of all other users: \(asOwner("chmod \($0) \(key)"))"
            }.contains(sentence), "\(sentence)")
    }

    @Test(arguments: ["base64 -w0 key", "sed 's/-----/\u{2014}/g' key", "openssl pkey -in key -outform DER"])
    func aDamagedKeyThatOthersMayReadIsGuardedByACommand(script: String) throws {
        try shell("\(script) >damaged; chmod 644 damaged", in: directory)
        let failure = #expect(throws: Failure.self) { try load(try file("damaged")) }
        #expect(failure?.code == .keyNotGuarded)
        try shell(try #require(failure?.remedy?.command), in: directory)
        let next = #expect(throws: Failure.self) { try load(try file("damaged")) }
        #expect(next?.code != .keyNotGuarded)
    }

    /// The others may be those for whom the file's other settings are.
    @Test func aDamagedKeyInAnotherProgramsFileIsNotClosedByACommand() throws {
        try shell("{ echo A=1; printf KEY=; base64 -w0 key; echo; } >damaged; chmod 644 damaged", in: directory)
        let failure = #expect(throws: Failure.self) { try load(try file("damaged")) }
        #expect(failure?.code == .keyNotGuarded)
        #expect(failure?.remedy?.command == nil)
    }

    /// A passphrase looks like any other text: only what opens the key is certainly no other file of the machine.
    @Test(arguments: [
        ("encrypted", "passphrase", true), ("encrypted", "other", false), ("key", "passphrase", false),
        ("none", "passphrase", false),
    ])
    func aPassphraseThatOthersMayReadIsGuardedIfItOpensTheKey(key: String, name: String, isKnown: Bool) throws {
        // The key has the same error; which of the two is corrected first makes no difference.
        try shell("chmod 644 key encrypted passphrase; echo other >other; chmod 644 other", in: directory)
        for location in [try file(key), .credential(key)] {
            let failure = #expect(throws: Failure.self) { try load(location, passphrase: try file(name)) }
            #expect(
                failure?.message
                    == "\(directory(name)): the passphrase cannot be used: other users can read or replace it: "
                    + "every user can read the file")
            #expect(failure?.remedy?.words == "remove the permissions of all other users")
            guard isKnown else {
                #expect(failure?.remedy?.command == nil)
                continue
            }
            let command = try #require(failure?.remedy?.command)
            #expect(command.contains("chmod 06") && command.hasSuffix(directory(name)), "\(command)")
        }
    }

    private static let missing = "systemd does not pass this credential"
    private static let unusable = "the passphrase cannot be used: "

    /// A name with "credential:" before it is a credential's, any other one a file's.
    @Test(
        arguments: [
            ("none", nil, "there is no such key file"), ("nowhere/none", nil, "there is no such key file: DIR/nowhere"),
            ("credential:none", nil, missing), ("encrypted", "none", "\(unusable)there is no such file"),
            ("encrypted", "credential:none", missing), ("credential:fifo", nil, "not a regular file"),
            ("credential:folder", nil, "not a regular file"), ("credential:../key", nil, missing),
            ("empty", nil, "the key file is empty"), ("credential:empty", nil, "the key file is empty"),
            ("large", nil, "too large for a private key"), ("credential:large", nil, "too large for a private key"),
            ("encrypted", "large", "\(unusable)it is longer than 1024 bytes"),
            ("encrypted", "credential:empty", "\(unusable)it is empty"),
        ] as [(String, String?, String)])
    func aFileThatIsNotWhatItShouldBeIsNamed(key: String, passphrase: String?, message: String) throws {
        try shell(
            "mkfifo fifo && mkdir folder; : >empty; head -c 20000 /dev/zero >large; chmod 600 empty large",
            in: directory)
        func location(_ name: String) throws -> KeyConfiguration.Location {
            guard name.hasPrefix("credential:") else { return try file(name) }
            return .credential(String(name.dropFirst("credential:".count)))
        }
        let named = passphrase ?? key
        let place =
            named.hasPrefix("credential:")
            ? "credential \"\(named.dropFirst("credential:".count))\"" : directory(named)
        #expect(
            try words { try load(try location(key), passphrase: try passphrase.map(location)) }
                == "\(place): \(message.replacing("DIR", with: directory.path))")
    }

    @Test func withoutCredentialsEveryOneIsMissing() throws {
        let entry = KeyConfiguration(
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")),
            location: .credential("key"))
        #expect(
            try words { try KeyLoader(as: .current(), credentials: nil).load(entry) }
                == "credential \"key\": \(Self.missing)")
    }
}
