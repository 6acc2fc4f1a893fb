import Failures
import Foundation
import Keys
import Model
import TestSupport
import Testing

/// What people do to key files is named, with a command that undoes it: each one is typed here, and the key then taken.
@Suite struct KeyFileDiagnosisTests {
    private static let escaped = #"its line breaks are written as \n"#
    private static let quotes = "it is in quotes"
    private static let assignment = "it begins with a name and \"=\""
    private static let dashes = "it has typographic dashes instead of \"-\""
    private static let spaces = "it has special spaces, such as no-break spaces"
    private static let plainSpaces = "it has spaces in its BEGIN or END line where none belong"
    private static let percent = "a \"%\" follows the last line, which zsh shows for a missing line break"
    private static let around = "other text is on its BEGIN or END line"
    private static let after = "other text follows its END line"
    private static let base64 = "it is the base64 of a PEM file"
    private static let alone = "its BEGIN and END lines are missing"
    private static let breaks = "its line breaks are missing"
    private static let escape = "sed ':a;N;$!ba;s/\\n/\\\\n/g' good | tr -d '\\n'"

    /// What is said, and what prints such a damaged form of the good key in `good`.
    private static let all: [String: [String]] = [
        percent: ["head -c -1 good; printf %%", "head -c -1 good; printf '%%\\n'"],
        quotes: [
            "printf '\"'; head -c -1 good; printf '\"\\n'", "printf \\'; head -c -1 good; printf \\'",
            "printf '\"'; head -c -1 good; printf '\",\\n'",
        ],
        "\(quotes), and \(assignment)": [
            "printf 'APPLE_KEY_2=\"'; head -c -1 good; printf '\"\\n'",
            "printf 'export APPLE_KEY=\"'; head -c -1 good; printf '\"\\n'",
        ],
        assignment: ["printf 'PRIVATE_KEY='; cat good"],
        around: [
            "printf '  key: '; cat good", "sed 's/-----END PRIVATE KEY-----/&----END PRIVATE KEY-----/' good",
            "sed 's/BEGIN PRIVATE KEY-----/BEGIN PRIVATE KEY/' good",
        ],
        escaped: ["\(escape)", "\(escape) | sed 's/\\\\n/\\\\r\\\\n/g'", "\(escape) | sed 's/\\\\n/\\\\\\\\n/g'"],
        "\(escaped), and \(quotes)": ["printf '{\"key\": \"'; \(escape); printf '\"}'"],
        "\(escaped), and \(assignment)": ["printf 'KEY='; \(escape)"],
        breaks: ["tr -d '\\n' <good", "tr '\\n' ' ' <good", "openssl pkey -in good -traditional | tr -d '\\n'"],
        dashes: [
            "sed 's/-----/\u{2014}\u{2013}/g' good", "sed 's/KEY-----/KEY---\u{2014}/' good",
            "sed 's/-----/\u{2212}\u{2212}\u{2212}\u{2212}\u{2212}/g' good",
        ],
        spaces: [
            "sed 's/BEGIN PRIVATE/BEGIN\u{A0}PRIVATE/' good", "sed 's/^/\u{A0}\u{A0}/' good",
            "sed 's/PRIVATE KEY-----/PRIVATE KEY-----\u{200B}/' good",
        ],
        plainSpaces: [
            "sed 's/-----BEGIN PRIVATE KEY-----/----- BEGIN PRIVATE KEY -----/' good",
            "sed 's/PRIVATE KEY/ PRIVATE  KEY /' good",
            "sed 's/END PRIVATE KEY-----/END PRIVATE KEY- - - - -/' good", "sed 's/BEGIN /BEGIN/; s/END /END/' good",
        ],
        "its END line is missing": ["sed '$d' good", "sed '$d' good | head -c -1"],
        "its BEGIN line is missing": ["sed 1d good", "openssl pkey -in good -traditional | sed 1d"],
        "its BEGIN or END line is damaged": ["sed 's/-----BEGIN/---BEGIN/; s/-----END/---END/' good"],
        "it is UTF-16": ["iconv -t UTF-16LE good", "iconv -t UTF-16BE good", "iconv -t UTF-16 good"],
        "it is UTF-32": ["iconv -t UTF-32LE good", "iconv -t UTF-32BE good", "iconv -t UTF-32 good"],
        base64: [
            "base64 -w0 good", "base64 good", "printf 'KEY=\"'; base64 -w0 good; printf '\"\\n'",
            "base64 -w0 good | tr -d =",
            "echo -----BEGIN CERTIFICATE-----; base64 good; echo -----END CERTIFICATE-----",
            "base64 -w0 good | iconv -t UTF-16",
        ],
        "\(base64), and \(escaped)": ["\(escape) | base64 -w0"],
        "\(base64), and \(escaped), and \(quotes), and \(assignment)": [
            "{ printf 'KEY=\"'; \(escape); printf '\"'; } | base64"
        ],
        "\(base64), and \(dashes)": ["sed 's/-----/\u{2014}/g' good | base64"],
        after: ["cat good; printf '\\n\\n}\\n'", "cat good; echo -----"],
        alone: [
            "grep -v -- ----- good", "grep -v -- ----- good | tr -d '\\n'",
            "printf KEY=; grep -v -- ----- good | tr -d '\\n'",
            "openssl pkey -in good -traditional | grep -v -- -----",
        ],
        "it is DER": ["openssl pkey -in good -outform DER", "openssl pkey -in good -traditional -outform DER"],
    ]

    /// The same of files with other text, which may be another program's.
    private static let mixed: [String: [String]] = [
        "\(quotes), and \(assignment)": [
            "printf 'DB_PASSWORD=x1\\nAPPLE_PRIVATE_KEY=\"'; head -c -1 good; printf '\"\\nSESSION=abc\\n'",
            "printf '[apple]\\nkey=\"'; head -c -1 good; printf '\"\\n'",
            "printf '# Apple\\nexport APPLE_KEY=\"'; head -c -1 good; printf '\"\\n# of May\\n'",
        ],
        "\(escaped), and \(assignment)": ["printf 'A=1\\nKEY='; \(escape); printf '\\nB=2\\n'"],
        "\(escaped), and \(quotes)": [
            "printf '{\"type\": \"x\", \"private_key\": \"'; \(escape); printf '\", \"client\": \"abc\"}\\n'"
        ],
        base64: [
            "printf '{\"a\": \"b\", \"key\": \"'; base64 -w0 good; printf '\", \"c\": \"d\"}\\n'",
            "printf 'A=1\\nKEY='; base64 -w0 good; printf '\\nB=2\\n'",
        ],
        around: ["sed 's/END PRIVATE KEY-----/& # copied/' good"],
        after: [
            "cat good; echo copied",
            "openssl req -x509 -key good -subj /CN=a -out certificate; cat good certificate; echo copied",
            "openssl pkey -in good -traditional; echo copied",
            "printf 'DB: x\\nKEY: |\\n'; sed 's/^/  /' good; echo 'OTHER: y'",
        ],
    ]

    @Test(arguments: mixed.flatMap { words, scripts in scripts.map { (words, $0) } })
    func aFileWithOtherTextStaysAsItIs(words: String, script: String) throws {
        let (directory, good, before, failure) = try damagedKey(by: script)
        #expect(failure.detail == words, "\(script)")
        // `check --fix` carries nothing out, and no remedy removes the only copy of the other text.
        #expect(failure.remedy?.command == nil, "\(script)")
        #expect(failure.remedy?.words?.contains("which holds it too") == false, "\(failure)")
        let command = try #require(failure.remedy?.words?.firstMatch(of: /\((test .*)\)$/)?.1, "\(failure)")
        try shell(String(command), in: directory)
        #expect(try signingKey(directory("damaged.key")).print == good, "\(script)")
        #expect(FileManager.default.contents(atPath: directory("damaged")) == before)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory("damaged.key"))
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(throws: TestFailure.self) { try shell(String(command), in: directory) }
    }

    @Test func anEncryptedKeyWithOtherTextStaysInItsFile() throws {
        let directory = try TemporaryDirectory()
        _ = try freshKey(in: directory, name: "good")
        try shell(
            "{ echo A=1; openssl ec -in good -aes128 -passout pass:abcd; } >damaged 2>/dev/null", in: directory)
        let failure = try failure(directory("damaged"))
        #expect(failure.code == .keyIsSEC1)
        #expect(failure.remedy?.words?.contains("the file holds other text, too, and stays as it is") == true)
        #expect(failure.remedy?.words?.contains("which holds it too") == false)
    }

    @Test(arguments: all.flatMap { words, scripts in scripts.map { (words, $0) } })
    func damageIsNamedAndUndone(words: String, script: String) throws {
        let (directory, good, before, failure) = try damagedKey(by: script)
        #expect(failure.detail == words, "\(script)")
        let command = try #require(failure.remedy?.command, "\(script)")
        // What a terminal and the journal show is the whole command.
        #expect(Redaction.plain(command).contains("BEGIN") == command.contains("BEGIN"))
        try shell(command, in: directory)
        #expect(try signingKey(directory("damaged")).print == good, "\(script)")
        // The file's mode is the same, and the damaged one is still there.
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        let copy = try #require(names.first { $0.hasPrefix("damaged.") })
        // The copy holds the key: what is said names it, so that it is removed.
        #expect(failure.remedy?.words?.contains("remove \(directory(copy))") == true, "\(failure)")
        for name in ["damaged", copy] {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory(name))
            #expect(attributes[.posixPermissions] as? Int == 0o640, "\(name)")
        }
        #expect(FileManager.default.contents(atPath: directory(copy)) == before)
        // Typed a second time it destroys nothing.
        #expect(throws: TestFailure.self) { try shell(command, in: directory) }
        #expect(try signingKey(directory("damaged")).print == good)
    }

    /// These commands ask for a passphrase.
    @Test(arguments: [
        ("openssl ec -in good -aes128 -passout pass:abcd -out damaged", "abcd\nabcd\nabcd\n"),
        (
            "openssl pkcs8 -topk8 -in good -v1 PBE-MD5-DES -provider default -provider legacy -passout pass:abcd -out damaged",
            "abcd\nabcd\nabcd\n"
        ),
    ])
    func anOldEncryptionIsReplaced(script: String, passphrases: String) throws {
        let directory = try TemporaryDirectory()
        let good = try freshKey(in: directory, name: "good")
        try shell("\(script) 2>/dev/null", in: directory)
        try directory.write("abcd", to: "passphrase")
        let failure = try failure(directory("damaged"), passphrase: directory("passphrase"))
        // `check --fix`, which carries out commands, has no terminal to ask at.
        #expect(failure.remedy?.command == nil)
        let command = try #require(failure.remedy?.words?.firstMatch(of: /\((test .*)\)$/)?.1)
        let old = try Data(contentsOf: URL(fileURLWithPath: directory("damaged")))
        // With a wrong passphrase the file stays.
        let failed = try run(
            ["setsid", "-w", "sh", "-euc", String(command)], input: Data("wrong\n".utf8), directory: directory.path)
        #expect(failed.status != 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory("damaged"))) == old)
        #expect(!FileManager.default.fileExists(atPath: directory("damaged.new")))
        // Without a terminal the program reads what is piped into it.
        let typed = try run(
            ["setsid", "-w", "sh", "-euc", String(command)], input: Data(passphrases.utf8), directory: directory.path)
        #expect(typed.status == 0, "\(typed.complaints)")
        let key = try signingKey(directory("damaged"), passphrase: directory("passphrase"))
        #expect(key.print == good.print)
    }

    /// Which of the two is the right one is not known.
    @Test(arguments: ["cat other", "sed 's/-----/----/' other", "grep -v -- ----- other"])
    func aSecondKeyAfterTheFirstIsNamed(script: String) throws {
        let directory = try TemporaryDirectory()
        _ = try freshKey(in: directory, name: "good")
        _ = try freshKey(in: directory, name: "other")
        try shell("{ cat good; \(script); } >damaged", in: directory)
        let failure = try failure(directory("damaged"))
        #expect(failure.code == .keyMalformed && failure.remedy?.command == nil, "\(failure)")
        #expect(
            ["another private key follows its END line", "it holds 2 private keys"].contains(failure.detail ?? ""),
            "\(failure)")
    }

    @Test func anOpenSSHKeyIsNamed() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----\n",
            to: "damaged")
        try shell("chmod 600 damaged", in: directory)
        #expect(try failure(directory("damaged")).detail == "it is an OpenSSH key")
    }

    @Test func aFileWithoutAKeyInsideIsNotMended() throws {
        let directory = try TemporaryDirectory()
        _ = try freshKey(in: directory, name: "good")
        for script in [
            "{ printf '\"'; sed 3d good; } >damaged", "{ printf '\"'; sed '2s/./A/' good; } >damaged",
            "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 2>/dev/null | tr -d '\\n' >damaged",
            "cat good good | sed 's/-----BEGIN/\"&/' >damaged", "printf MIGH >damaged",
            "printf LS0tLS1CRUdJTg== >damaged", "printf '\"%%\\\\n' >damaged",
        ] {
            try shell(script, in: directory)
            #expect(try failure(directory("damaged")).remedy?.command == nil, "\(script)")
        }
    }

    /// A file `damaged` that the script makes of a fresh key: where it is, the key's digest, the file's content and what is wrong.
    private func damagedKey(
        by script: String
    ) throws -> (directory: TemporaryDirectory, good: KeyDigest, before: Data?, failure: Failure) {
        let directory = try TemporaryDirectory()
        let good = try freshKey(in: directory, name: "good").print
        try shell("{ \(script)\n} >damaged 2>/dev/null; chmod 640 damaged", in: directory)
        let path = directory("damaged")
        return (directory, good, FileManager.default.contents(atPath: path), try failure(path))
    }

    private func failure(_ path: String, passphrase: String? = nil) throws -> Failure {
        let place = Failure.Place.path(try #require(AbsolutePath(path)))
        return try #require(throws: Failure.self) { try signingKey(path, passphrase: passphrase, place: place) }
    }
}
