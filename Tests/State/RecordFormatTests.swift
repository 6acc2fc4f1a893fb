import AppleClientSecret
import Digest
import Failures
import Model
import Outputs
import Testing

@testable import State

@Suite struct RecordFormatTests {
    private func record() throws -> RecordWithSecrets {
        let action = ActionID("restart myapp.service")
        var record = Record()
        record.delivered = [
            action: try Samples.secret(1).issued, ActionID("exec /bin/x 'a b'"): try Samples.secret(0).issued,
        ]
        record.shared = [try Samples.path("/srv/app/.env")]
        record.owed = [action]
        record.failed = [action: "restart myapp.service: its job failed"]
        record.repairs = [try Samples.path("/srv/web.jwt"): [WallTime(secondsSinceEpoch: 1_800_000_000)]]
        record.keyChange = KeyChange(
            keyID: try #require(KeyID("ABC123DEFG")), from: try #require(KeyDigest(String(repeating: "1", count: 64))),
            to: try #require(KeyDigest(String(repeating: "2", count: 64))),
            at: WallTime(secondsSinceEpoch: 1_800_000_000))
        record.shown = [
            PushOutput(target: try #require(TargetName("a")), place: "p"): .nothing,
            PushOutput(target: try #require(TargetName("b")), place: "q"): .unusable,
            PushOutput(target: try #require(TargetName("c")), place: "r"): .secret(
                expiresAt: WallTime(secondsSinceEpoch: 1_800_000_000)),
        ]
        record.failing = [
            PushOutput(target: try #require(TargetName("a")), place: "p"): .init(.pushCredentialsRefused, "it is 401"),
            PushOutput(target: try #require(TargetName("b")), place: "q"): .init(.pushTimedOut, nil),
        ]
        record.turn = WallTime(secondsSinceEpoch: 1_800_000_600)
        record.wasRolledOut = true
        record.store = "https://etcd:2379"
        return RecordWithSecrets(record, current: try Samples.kept(1), candidate: try Samples.kept(2))
    }

    private func name(_ text: String) throws -> ClientName { try #require(ClientName(text)) }

    @Test func everyRecordComesBackAsItWasKept() throws {
        let record = try record()
        let bytes = RecordFormat.encode(record, of: try name("web"))
        let back = try RecordFormat.decode(bytes, of: try name("web"))
        #expect(back.record == record.record)
        #expect(back.current?.secret.token.fingerprint == record.current?.secret.token.fingerprint)
        #expect(back.current?.secret.issued == record.current?.secret.issued)
        #expect(back.current?.signerKey == record.current?.signerKey)
        #expect(back.candidate?.secret.issued == record.candidate?.secret.issued)
        #expect(
            back.current.map { Samples.text($0.secret) }
                == Samples.text(try Samples.secret(1)))
    }

    /// Earlier versions did not write what is signed: an upgrade must not take a delivered secret for another one.
    @Test func aRecordOfAnEarlierVersionNamesTheSameSecrets() throws {
        let text = String(decoding: RecordFormat.encode(try record(), of: try name("web")), as: UTF8.self)
        let body = text.drop { $0 != "\n" }.dropFirst().replacing(#""signed":null,"#, with: "")
        #expect(!body.contains("signed\""))
        let digest = Hex.encode(SHA256.digest(Array(body.utf8)))
        let bytes = Array("clientsecretd-state 1 sha256:\(digest)\n\(body)".utf8)
        let back = try RecordFormat.decode(bytes, of: try name("web"))
        #expect(back.record == (try record().record))
        let current = try #require(back.record.current)
        #expect(current.name == back.current?.secret.token.name)
        #expect(back.record.delivered[ActionID("restart myapp.service")]?.isSame(as: current) == true)
    }

    /// As versions up to 0.1 read it: no name, order or form of a number has changed.
    @Test func aRecordIsWrittenAsEarlierVersionsReadIt() throws {
        func known(_ secret: Secret) -> String {
            #"{"client":"com.example.web","expiresAt":\#(secret.issued.expiresAt.secondsSinceEpoch),"#
                + #""fingerprint":"\#(secret.issued.fingerprint)","issuedAt":"#
                + #"\#(secret.issued.issuedAt.secondsSinceEpoch),"keyID":"ABC123DEFG","signed":null,"signer":null,"#
                + #""team":"DEF123GHIJ"}"#
        }
        func kept(_ number: Int, _ key: String) throws -> String {
            let secret = try Samples.secret(number)
            return #"{"known":\#(known(secret)),"signerKey":"\#(key)","token":"\#(Samples.text(secret))"}"#
        }
        let one = "\(String(repeating: "1", count: 64))"
        let two = "\(String(repeating: "2", count: 64))"
        var record = try record()
        record = RecordWithSecrets(
            {
                var all = record.record
                all.refusal = "no"
                // Earlier versions knew none of it.
                all.shown = [:]
                (all.failed, all.repairs, all.failing) = ([:], [:], [:])
                all.fleet = [4_294_967_295, 7]
                all.isRolloutHeld = true
                return all
            }(), current: record.current, candidate: record.candidate)
        let expected =
            #"{"candidate":\#(try kept(2, "MFkBAgMC")),"current":\#(try kept(1, "MFkBAgMB")),"client":"web","#
            + #""delivered":{"exec /bin/x 'a b'":\#(known(try Samples.secret(0))),"#
            + #""restart myapp.service":\#(known(try Samples.secret(1)))},"shared":["/srv/app/.env"],"#
            + #""owed":["restart myapp.service"],"refusal":"no","#
            + #""keyChange":{"at":1800000000,"from":"\#(one)","keyID":"ABC123DEFG","to":"\#(two)"},"#
            + #""turn":1800000600,"rolledOut":true,"fleet":[7,4294967295],"rolloutHeld":true,"store":"https://etcd:2379"}"#
            + "\n"
        let text = String(decoding: RecordFormat.encode(record, of: try name("web")), as: UTF8.self)
        #expect(text.drop { $0 != "\n" }.dropFirst() == expected)
    }

    @Test func aTornRecordIsDamagedWhereverItEnds() throws {
        let bytes = RecordFormat.encode(try record(), of: try name("web"))
        for length in 0..<bytes.count {
            #expect(throws: RecordFormat.ReadError.damaged) {
                try RecordFormat.decode(Array(bytes.prefix(length)), of: try name("web"))
            }
        }
        #expect(throws: RecordFormat.ReadError.damaged) { try RecordFormat.decode(bytes + [10], of: try name("web")) }
    }

    @Test func noFlippedBitIsBelieved() throws {
        let whole = RecordFormat.encode(try record(), of: try name("web"))
        for index in whole.indices {
            for bit in 0..<8 {
                var bytes = whole
                bytes[index] ^= 1 << bit
                #expect(throws: RecordFormat.ReadError.self, "bit \(bit) of byte \(index)") {
                    try RecordFormat.decode(bytes, of: try name("web"))
                }
            }
        }
    }

    @Test func anotherClientsRecordIsDamaged() throws {
        let bytes = RecordFormat.encode(try record(), of: try name("web"))
        #expect(throws: RecordFormat.ReadError.damaged) { try RecordFormat.decode(bytes, of: try name("ios")) }
    }

    @Test func aTokenThatIsNotTheOneDescribedIsDamaged() throws {
        let mixed = RecordedSecret(
            Secret(token: try Samples.secret(1).token, issued: try Samples.secret(2).issued), signerKey: nil)
        let bytes = RecordFormat.encode(RecordWithSecrets(current: mixed), of: try name("web"))
        #expect(throws: RecordFormat.ReadError.damaged) { try RecordFormat.decode(bytes, of: try name("web")) }
    }

    @Test(arguments: [
        ("clientsecretd-state 2 zstd\n???", RecordFormat.ReadError.newer), ("clientsecretd-state 10\n", .newer),
        ("clientsecretd-state 1\n", .damaged), ("clientsecretd-state 0 \n", .damaged), ("state 2\n", .damaged),
        ("clientsecretd-state 99999999999999999999\n", .damaged), ("", .damaged),
    ])
    func distinguishesANewerVersionFromDamage(text: String, error: RecordFormat.ReadError) throws {
        #expect(throws: error) { try RecordFormat.decode(Array(text.utf8), of: try name("web")) }
    }
}
