import Foundation
import Keys
import Model
import TestSupport
import Testing

/// A private key lies in the secure heap and nowhere else: neither its number nor its base64.
@Suite(.serialized, .needs(.venv)) struct KeyInMemoryTests {
    /// Makes a key of its own in a form, writes it to `key` and its passphrase to `passphrase`, and prints its number and
    /// the base64 that stands for the number's last 18 bytes, both masked: this process never sees them.
    private static let maker = """
        import base64, subprocess, sys
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives import serialization as s
        form, mask = sys.argv[1], 0x5A
        key = ec.generate_private_key(ec.SECP256R1())
        number = key.private_numbers().private_value.to_bytes(32, "big")
        text = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
        if form == "without its public half":
            head = "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420"
            text = base64.encodebytes(bytes.fromhex(head) + number).replace(b"\\n", b"")
            text = b"-----BEGIN PRIVATE KEY-----\\n%s\\n%s\\n-----END PRIVATE KEY-----\\n" % (text[:64], text[64:])
        if form == "SEC1":
            text = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.TraditionalOpenSSL, s.NoEncryption())
        line = text.split(b"\\n")[1][28:52] if form == "SEC1" else text.split(b"\\n")[2][:24]
        if form.startswith("-"):
            text = subprocess.run(["openssl", "pkcs8", "-topk8", *form.split(), "-passout", "pass:open sesame"],
                input=text, check=True, capture_output=True).stdout
        open("key", "wb").write(text)
        open("passphrase", "w").write("open sesame\\n")
        for part in number, line: print(bytes(byte ^ mask for byte in part).hex())
        """

    @Test(arguments: ["plain", "SEC1", "without its public half", "-v2 aes-256-cbc", "-scrypt", "-v1 PBE-SHA1-3DES"])
    func aKeyIsOnlyInThePrivateKeyHeap(form: String) throws {
        let directory = try TemporaryDirectory()
        let made = try runToSuccess([python, "-c", Self.maker, form], directory: directory.path)
        let lines = made.split(separator: "\n").map { bytes(String($0)) }
        let number = OwnMemory.Pattern(masked: lines[0])
        let base64 = OwnMemory.Pattern(masked: lines[1])

        func use() throws {
            let key = try signingKey(directory("key"), passphrase: directory("passphrase"))
            for _ in 0..<10 { _ = try key.mint(.sample()) }
            let memory = try OwnMemory()
            let (found, searched) = try memory.count([number, number.reversed, base64], in: .ordinary)
            #expect(found == [0, 0, 0])
            #expect(searched > 1 << 20)
            // libcrypto keeps its numbers with the lowest byte first: the search finds what is there.
            #expect(try memory.count([number.reversed], in: .secureHeap).found != [0])
            withExtendedLifetime(key) {}
        }
        for _ in 0..<3 { try use() }
        let memory = try OwnMemory()
        for part in [OwnMemory.Part.ordinary, .secureHeap] {
            let (found, _) = try memory.count([number, number.reversed, base64], in: part)
            #expect(found == [0, 0, 0], "left behind in \(part)")
        }
    }

    @Test func aCopyWouldBeFound() throws {
        PrivateKeyHeap.start()
        var random = SeededGenerator()
        let pattern = OwnMemory.Pattern(masked: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
        let memory = try OwnMemory()
        #expect(try memory.count([pattern], in: .ordinary).found == [0])
        let copy = pattern.masked.map { $0 ^ OwnMemory.Pattern.mask }
        #expect(try memory.count([pattern], in: .ordinary).found != [0])
        withExtendedLifetime(copy) {}
    }

    @Test func theHeapIsLockedOrSaysThatItIsNot() throws {
        let protection = PrivateKeyHeap.start()
        let status = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/status"))
        let text = String(decoding: try status.readToEnd() ?? Data(), as: UTF8.self)
        try status.close()
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
        let locked = try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
        #expect(protection == (locked >= 64 ? .locked : .unlocked))
        #expect(PrivateKeyHeap.start() == protection)
    }
}
