import AppleClientSecret
import Model
import TestSupport
import Testing

@testable import Formats

@Suite struct FormatTests {
    /// A secret as formats write it. Nothing here looks at a signature, so there is none.
    static func secret(_ number: Int = 0) throws -> RenderedSecret {
        let claims = Claims.sample(number)
        return RenderedSecret(token: claims.sampleToken(number), claims: claims)
    }

    private let raw = RawFormat(parameter: nil)
    private let json = JSONFormat(parameter: nil)

    private func whole(_ format: some OutputFormat, _ bytes: [UInt8]) throws -> ParsedFile.Content? {
        try format.parse(bytes, slots: [.whole]).slots[.whole]
    }

    @Test func everyFormatReadsWhatItWrites() throws {
        let template = "id={{client_id}}\nsecret={{client_secret}}\n"
        for type in FormatRegistry.all {
            let isOfPlace = type.setting?.scope == .place
            let place: FileSlot = isOfPlace ? .variable("SECRET") : .whole
            let format = type.init(parameter: type.setting?.scope == .file ? template : nil)
            let secret = try Self.secret()
            let bytes = try format.render([place: secret], into: [])
            #expect(try format.parse(bytes, slots: [place]).slots == [place: .token(secret.token)], "\(type.name)")
            // The next one takes its place.
            let next = try Self.secret(1)
            let later = try format.render([place: next], into: bytes)
            #expect(try format.parse(later, slots: [place]).slots == [place: .token(next.token)], "\(type.name)")
        }
    }

    @Test func rawIsTheTokenAndNothingElse() throws {
        let secret = try Self.secret()
        let bytes = raw.render([.whole: secret], into: Array("old".utf8))
        #expect(bytes == secret.token)
        #expect(raw.parse(bytes, slots: [.whole]).isExact)
        // An editor, or Windows, has added the blanks. `inspect` finds the same secret.
        for (before, after) in [("", "\n"), ("", "\r\n"), ("", "\n\n"), (" ", ""), ("\n", " ")] {
            let edited = Array(before.utf8) + bytes + Array(after.utf8)
            let parsed = raw.parse(edited, slots: [.whole])
            #expect(parsed.slots == [.whole: .token(bytes)] && !parsed.isExact)
            #expect(RawFormat.candidate(in: edited, at: .whole) == .bytes(bytes))
        }
    }

    /// Applications that read it have a working secret. What is written next is the same for every reader.
    @Test(arguments: [
        ("A=1\nS=TOKEN # by hand\n", "A=1\n# by hand\nS=TOKEN\n"), ("S=\"TOKEN\" # by hand\n", "# by hand\nS=TOKEN\n"),
        ("\u{FEFF}S=TOKEN\n", "\u{FEFF}S=TOKEN\nS=TOKEN\n"), ("S=TOKEN # a\nS=TOKEN\n", "# a\nS=TOKEN\nS=TOKEN\n"),
    ])
    func aSecretThatOnlySomeReadersFindIsKeptAndWrittenAgain(text: String, written: String) throws {
        let secret = try Self.secret()
        func bytes(_ text: String) -> [UInt8] {
            Array(text.replacing("TOKEN", with: String(decoding: secret.token, as: UTF8.self)).utf8)
        }
        let environment = EnvironmentFormat(parameter: nil)
        let place = FileSlot.variable("S")
        let found = try environment.parse(bytes(text), slots: [place])
        #expect(found.slots == [place: .token(secret.token)] && !found.isExact)
        let next = try environment.render([place: secret], into: bytes(text))
        #expect(String(decoding: next, as: UTF8.self) == String(decoding: bytes(written), as: UTF8.self))
        #expect(try environment.parse(next, slots: [place]).isExact)
        #expect(FormatRegistry.variablesWithSecret(in: bytes(text)) == ["S"])
    }

    /// Otherwise the file would be written again and again, and the other variable's client would fail as well.
    @Test func aSecretThatNoEditCanReachLeavesTheOtherVariablesGood() throws {
        let secret = try Self.secret()
        let token = String(decoding: secret.token, as: UTF8.self)
        let bytes = Array("\u{FEFF}S=\(token) # by hand\nT=\(token)\n".utf8)
        let environment = EnvironmentFormat(parameter: nil)
        let slots = ["S", "T"].map { FileSlot.variable($0) }
        let found = try environment.parse(bytes, slots: slots)
        #expect(found.isExact && found.slots.values.allSatisfy { $0 == .token(secret.token) })
        #expect(try environment.editErrors(in: bytes, at: slots).keys.map { $0 } == [slots[0]])
    }

    @Test(arguments: ["S=old # TOKEN\n", "S=TOKEN # a\nS=old\n", "S=two words # a\n", "S= # TOKEN\n"])
    func aCommentIsNoSecret(text: String) throws {
        let token = String(decoding: try Self.secret().token, as: UTF8.self)
        let place = FileSlot.variable("S")
        let found = try EnvironmentFormat(parameter: nil).parse(
            Array(text.replacing("TOKEN", with: token).utf8), slots: [place])
        #expect(found.slots[place] != .token(Array(token.utf8)))
    }

    @Test(arguments: [
        "a\nb", "a b", "a=", "\u{feff}a", "a\u{0}", String(repeating: "a", count: 16_385),
    ])
    func rawThatIsNoToken(text: String) throws {
        #expect(try whole(raw, Array(text.utf8)) == .foreign)
    }

    /// Blanks in the secret's place are nothing, as an empty file is.
    @Test func anEmptySecretIsAbsentInEveryFormat() throws {
        for type in FormatRegistry.all {
            let place: FileSlot = type.setting?.scope == .place ? .variable("SECRET") : .whole
            let format = type.init(parameter: type.setting?.scope == .file ? "{{client_secret}}\n" : nil)
            for blank in ["", "\n", "\r\n", " \t\n"] {
                #expect(try format.parse(Array(blank.utf8), slots: [place]).slots == [:], "\(type.name)")
            }
        }
        for line in ["SECRET=\n", "SECRET=''\n", "SECRET=\" \"\n"] {
            let parsed = try EnvironmentFormat(parameter: nil).parse(Array(line.utf8), slots: [.variable("SECRET")])
            #expect(parsed.slots == [:])
        }
        #expect(try whole(json, Array(#"{"client_secret": ""}"#.utf8)) == nil)
    }

    @Test func jsonIsAnObjectInAFixedOrder() throws {
        let secret = try Self.secret()
        let bytes = json.render([.whole: secret], into: [])
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                {
                  "client_id": "com.example.web",
                  "client_secret": "\(String(decoding: secret.token, as: UTF8.self))",
                  "key_id": "ABC123DEFG",
                  "team_id": "DEF123GHIJ",
                  "issued_at": "2026-09-21T14:13:20Z",
                  "expires_at": "2026-12-20T14:14:20Z"
                }

                """)
        #expect(try whole(json, bytes) == .token(secret.token))
    }

    /// Parts of what is written, what others make of them, and whether the file then needs no change, and whether a write would
    /// lose nothing. The secret counts in each.
    private static let changes: [(name: String, part: String, becomes: String, isExact: Bool, isOurs: Bool)] = [
        ("laid out otherwise", ",\n  ", ",", true, true),
        // The next secret would take it away without a word: it is undone at once, or the file is not written at all.
        ("another member", "{", #"{"mine":[1,{}],"#, false, false),
        ("another name", "\"key_id\"", "\"key\"", false, false),
        // Made by hand: what is missing or wrong is corrected.
        ("a member less", "\n  \"key_id\": \"ABC123DEFG\",", "", false, true),
        ("another client", "com.example.web", "com.example.other", false, true),
        ("another key id", "ABC123DEFG", "ABC123DEFH", false, true),
        ("another team", "DEF123GHIJ", "DEF123GHIK", false, true),
        ("issued later", "2026-09-21T14:13:20Z", "2026-09-21T14:13:21Z", false, true),
        ("expires later", "2026-12-20", "2027-12-20", false, true),
        // A shell's substitution or an editor adds them, and no reader removes them.
        ("a blank before the token", "\"eyJ", "\" eyJ", false, true),
        ("a line break after the token", "\",\n  \"key_id\"", "\\n\",\n  \"key_id\"", false, true),
    ]

    @Test(arguments: changes.indices) func aJSONOutputIsReadAndCorrected(index: Int) throws {
        let (name, part, becomes, isExact, isOurs) = Self.changes[index]
        let secret = try Self.secret()
        let written = String(decoding: json.render([.whole: secret], into: []), as: UTF8.self)
        let text = written.replacing(part, with: becomes)
        try #require(text != written, "\(name)")
        let parsed = json.parse(Array(text.utf8), slots: [.whole])
        #expect(parsed.slots == [.whole: .token(secret.token)], "\(name)")
        #expect(parsed.isExact == isExact && parsed.otherLines != isOurs, "\(name)")
        #expect(json.mayReplace(Array(text.utf8)) == isOurs, "\(name)")
        #expect(JSONFormat.candidate(in: Array(text.utf8), at: .whole) == .bytes(secret.token), "\(name)")
    }

    @Test func jsonThatIsCutOffHoldsNoSecret() throws {
        let bytes = json.render([.whole: try Self.secret()], into: [])
        #expect(json.parse(bytes, slots: [.whole]).isExact)
        #expect(try whole(json, bytes.filter { $0 != UInt8(ascii: "}") }) == .foreign)
    }

    /// White space is allowed in a header, and other programs write it.
    @Test(arguments: [#"{"alg":"ES256"}"#, #"{ "alg": "ES256" }"#, "{\n\"alg\":\"ES256\"}", "{\t\"alg\":\"ES256\"}"])
    func aHeaderMayBeginWithWhiteSpace(header: String) throws {
        let parts = [header, #"{"iss":"DEF123GHIJ"}"#, "signature"].map { Base64URL.encode(Array($0.utf8)) }
        let token = Array(parts.joined(separator: [UInt8(ascii: ".")]))
        #expect(CompactJWS.seemsToBegin(token))
        #expect(raw.mayReplace(token), "\(String(decoding: token, as: UTF8.self))")
        #expect(!CompactJWS.seemsToBegin("eyes.example".utf8) && !CompactJWS.seemsToBegin("ewe".utf8))
    }

    /// Python, JavaScript and C read the last of two members, others the first.
    @Test func jsonWithTwoSecretsIsNone() throws {
        let (one, two) = (try Self.secret(), try Self.secret(1))
        let text = String(decoding: json.render([.whole: one], into: []), as: UTF8.self)
        let second = String(decoding: two.token, as: UTF8.self)
        let doubled = Array(text.replacing("\n}", with: ",\n  \"client_secret\": \"\(second)\"\n}").utf8)
        #expect(try whole(json, doubled) == .foreign)
        let found = JSONFormat.candidate(in: doubled, at: .whole)
        #expect(found == .missing("one name is in it twice, and one reader takes the first value, another the last"))
        #expect(JSONFormat.candidate(in: Array(text.utf8), at: .whole) == .bytes(one.token))
    }

    @Test func onlyASecretOfTheFormatMayBeReplaced() throws {
        let secret = try Self.secret()
        let template = TemplateFormat(parameter: "secret={{client_secret}}\n")
        let (token, object) = (secret.token, json.render([.whole: secret], into: []))
        let filled = try template.render([.whole: secret], into: [])
        #expect(raw.mayReplace(token) && raw.mayReplace(token + [10]) && raw.mayReplace(Array("eyJ.a.b".utf8)))
        #expect(json.mayReplace(object) && json.mayReplace(Array("{\"client_secret\": \"eyJ.a.b\"}".utf8)))
        #expect(template.mayReplace(filled))
        for empty in ["", "\n", " \r\n"] {
            #expect(raw.mayReplace(Array(empty.utf8)) && json.mayReplace(Array(empty.utf8)))
            #expect(template.mayReplace(Array(empty.utf8)))
        }
        for other in [
            "A=1\n", "SECRET=eyJ.a.b\n", "password", "{}", "{\"client_secret\": \"eyJ.a.b\", \"client_name\": \"x\"}",
        ] {
            #expect(!raw.mayReplace(Array(other.utf8)) && !json.mayReplace(Array(other.utf8)), "\(other)")
            #expect(!template.mayReplace(Array(other.utf8)), "\(other)")
        }
        #expect(
            !raw.mayReplace(object) && !json.mayReplace(token) && !template.mayReplace(filled + Array("b=1\n".utf8)))
    }

    @Test(arguments: [
        "{\"a\": 1}\n", "{\n  // x=1\n  \"a\": \"b=c\"\n}\n", "\u{FEFF}{}", "[1]\n", "eyJ.a.b",
        "<?php\nreturn ['a' => 'b'];\n",
        "<?xml version=\"1.0\"?>\n", "a:\n  b: c\n", "db: postgres://x\nport: 5\n", "FOO\nBAR\n",
        "services:\n  web:\n    environment:\n      - A=1\n",
        "-----BEGIN CERTIFICATE-----\nMIIB=\n-----END CERTIFICATE-----\n", "FROM debian\nENV A=1\n", "some words\n",
    ])
    func aFileOfAnotherFormatGetsNoVariable(text: String) {
        #expect(!EnvironmentFormat(parameter: nil).mayReplace(Array(text.utf8)))
    }

    @Test(arguments: [
        "", "\n", "# A=1\n", "; no\n\n", "A=1\n", "  A = 1\r\n", "\u{FEFF}A=1\n", "export A='1'\n", "declare -x A=1\n",
        "my-name=1\n", "spring.datasource.url=jdbc:x\n", "words here\nA=1\n", "A='{\n}'\n", "[section]\nA=1\n",
        "if true; then\n  A=1\nfi\n",
    ])
    func anEnvironmentFileMayGetAVariable(text: String) {
        #expect(EnvironmentFormat(parameter: nil).mayReplace(Array(text.utf8)))
    }

    /// Each holds lines that read as assignments.
    @Test(arguments: [
        ("settings.py", "DEBUG = True\nSECRET = \"old\"\n"), ("config.JS", "a = 1\n"), ("app.toml", "a = 1\n"),
        ("shop.service", "[Service]\nEnvironment=SECRET=old\n"), ("app.env", "#!/usr/bin/env python3\nA = 1\n"),
        ("app", "#!/usr/bin/perl -w\nA=1\n"),
    ])
    func aFileOfAnotherSyntaxGetsNoVariable(name: String, text: String) {
        #expect(NonEnvironmentFile.reason(name, Array(text.utf8)) != nil)
    }

    @Test(arguments: [
        ("app.conf", "A=1\n"), ("py", "A=1\n"), (".py", "A=1\n"), ("app.env", "#!/bin/sh\nA=1\n"),
        ("env.production", "#!/usr/bin/env -S bash\nA=1\n"), ("app.properties", "A=1\n"), (".env.js", "A=1\n"),
        ("env.php", "A=1\n"), ("example.pl", "A=1\n"), ("app.cfg", "A=1\n"), ("app.env", "#! Production\nA=1\n"),
    ])
    func anEnvironmentFileMayHaveAnyOtherName(name: String, text: String) {
        #expect(NonEnvironmentFile.reason(name, Array(text.utf8)) == nil)
    }

    /// A name may be set in each section, to values that have nothing to do with each other.
    @Test(arguments: [
        ("[auth.google]\nclient_secret = a\n\n[auth.generic_oauth]\nclient_secret = b\n", 1),
        ("APP_NAME = x\n[oauth2]\nJWT_SECRET = a\n", 2), ("[Service]\nEnvironment=A=b\n", 1),
        ("A=1\r\n  [ name ]\t\r\nB=1\r\n", 2), ("[program:web]\ncommand=x\n", 1), ("[[servers]]\na=1\n", 1),
        ("[a] ; note\nA=1\n", 1), ("[PATH=/srv]\nA=1\n", 1), ("[remote \"origin\"]\nA=1\n", 1),
        ("A='x\n[no]\n'\n[yes]\nB=1\n", 4), ("A=1\n</Location>\n", 2), ("google {\nsecret=a\n}\n", 1),
        ("A=it's\n[google]\nsecret=a\n", 2),
    ])
    func aFileWithSectionsGetsNoVariable(text: String, line: Int) {
        #expect(
            NonEnvironmentFile.reason("app.conf", Array(text.utf8))
                == "by its line \(line), which begins or ends a section, it is no environment file")
    }

    /// As in a file of variables with headings. A variable that is missing would be added to the last section.
    @Test(
        arguments: [
            ("[Database]\nA=1\n[Mail]\nB=1\n", ["A"], true), ("[a]\nA=1\n[b]\nB=1\n", ["A", "B"], true),
            ("[a]\nA=1\n[b]\nA=1\n", ["A"], false), ("[a]\nB=1\n", ["A"], false), ("[a]\nA=1\n", ["A", "B"], false),
        ] as [(String, Set<String>, Bool)])
    func aVariableThatIsAssignedOnceIsFoundInAnySection(text: String, names: Set<String>, isKept: Bool) {
        #expect((NonEnvironmentFile.reason("app.conf", Array(text.utf8), setting: names) == nil) == isKept)
    }

    /// A test in a shell, a part of a value, a function.
    @Test(arguments: [
        "A=1\n# [name]\n;[name]\n", "A='x\n[name]\n'\nB=\"\n{\n[1]\n}\"\n", "A=[name]\n", "[ -n \"$A\" ]\nA=1\n",
        "[ $A ]\nA=1\n", "[[ -n x ]]\nA=1\n", "[\"a\"]\nA=1\n", "f() {\nA=1\n}\n", "function f {\nA=1\n}\n",
        "if true; then {\nA=1\n} fi\n", "<your secret>\nA=1\n", "[]\nA=1\n", "A={\n",
    ])
    func aLineThatIsNoSectionIsKept(text: String) {
        #expect(NonEnvironmentFile.reason("app.conf", Array(text.utf8)) == nil)
    }

    @Test func readingManySectionMarksTakesLittleTime() {
        let text = "A='\n" + String(repeating: "[name]\nB=1\n", count: 5_000) + "'\n"
        #expect(NonEnvironmentFile.reason(".env", Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        (".envrc", "export A=1\n", true), (".envrc", "", true), (".env", "A=1\n", false),
        (".envrc.local", "export A=1\n", false),
        (".env", "A=ENC[AES256_GCM,data:x]\nsops_mac=ENC[AES256_GCM,data:y]\nsops_version=3.9.0\n", true),
        (".env", "# sops_mac=x\nMY_sops_mac=1\n", false),
    ])
    func aFileWhoseContentIsApprovedAsAWholeIsKnown(name: String, text: String, isApproved: Bool) {
        #expect((ApprovedFile(name, Array(text.utf8)) != nil) == isApproved)
    }

    /// Such as that of a Kubernetes service account.
    @Test func aTokenOfAnotherIssuerIsNotReplaced() throws {
        func token(_ claims: String) -> [UInt8] {
            Base64URL.encode(Array(#"{"alg":"RS256"}"#.utf8)) + [UInt8(ascii: ".")]
                + Base64URL.encode(Array(claims.utf8)) + Array(".c2ln".utf8)
        }
        for claims in [#"{"iss":"https://kubernetes.default.svc","aud":["https://a"],"sub":"x"}"#, #"{"sub":"me"}"#] {
            let text = String(decoding: token(claims), as: UTF8.self)
            #expect(!raw.mayReplace(token(claims)))
            #expect(!json.mayReplace(Array("{\"client_secret\": \"\(text)\"}".utf8)))
            #expect(!TemplateFormat(parameter: "s={{client_secret}}\n").mayReplace(Array("s=\(text)\n".utf8)))
        }
        // Apple refuses these, but they are meant for it.
        for claims in [#"{"iss":"DEF123GHIJ"}"#, #"{"iss":"me","aud":["https://appleid.apple.com/"]}"#] {
            #expect(raw.mayReplace(token(claims)))
        }
    }

    @Test(
        arguments: [
            ("# mine\nA=1\nexport B='x y'\n", "env"), ("{\"a\": 1}\n", "json"), ("eyJ.a.b\n", "raw"), ("a.b=c\n", nil),
            ("[section]\nA=1\n", nil), ("-----BEGIN PRIVATE KEY-----\nMIG=\n", nil), ("\u{0}A=1", nil),
            ("words\n", nil),
        ] as [(String, String?)])
    func theFormatOfAnotherProgramsFileIsGuessed(text: String, format: String?) {
        #expect(FormatRegistry.guess(Array(text.utf8))?.name == format)
    }
}
