import Foundation
import Keys
import Model
import TestSupport
import Testing

/// Every kind of file that is not the key that is wanted gets words of its own.
@Suite struct KeyFileTests {
    private static let p256 = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256"
    private static let rsa = "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024"

    /// What is said, and what makes such a `key`. Each is named as what it is also without PEM around it.
    private static let bad: [String: [String]] = [
        "the key file is empty": [": >key", "printf ' \\n\\r\\n\\t' >key"],
        "not a PEM file: it is DER": ["\(p256) -outform DER -out key"],
        "a public key, not the private one": [
            "\(p256) | openssl pkey -pubout -outform DER -out key", "\(p256) | openssl pkey -pubout -out key",
            "\(p256) | openssl pkey -pubout | sed 's/PUBLIC/PRIVATE/' >key",
        ],
        "an EC key on another curve than P-256: secp384r1": [
            "openssl ecparam -name secp384r1 -genkey -noout -outform DER -out key",
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -outform DER -out key",
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out key",
            "openssl ecparam -name secp384r1 -genkey -out key",
        ],
        "an RSA key, but Apple's keys are P-256": [
            "\(rsa) | openssl rsa -traditional -outform DER -out key", "\(rsa) -outform DER -out key",
            "\(rsa) -out key",
            "\(rsa) | openssl rsa -traditional -out key",
        ],
        "a certificate, not a private key": [
            "\(p256) -out other; openssl req -x509 -key other -subj /CN=a -outform DER -out key",
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=a -keyout other -out key",
        ],
        "the private key cannot be decoded: it is a certificate request": [
            "\(p256) -out other; openssl req -new -key other -subj /CN=a -outform DER -out key",
            "\(p256) -out other; openssl req -new -key other -subj /CN=a -out key",
        ],
        "an EC key on another curve than P-256: secp256k1": [
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1 -out key"
        ],
        "not a PEM file": [
            "echo hello >key", "\(p256) | openssl pkcs8 -topk8 -passout pass:x -outform DER -out key",
        ],
        "not an EC key, but Apple's keys are P-256: ED25519": ["openssl genpkey -algorithm ED25519 -out key"],
        "not an EC key, but Apple's keys are P-256: ED448": [
            "openssl genpkey -algorithm ED448 -out key", "openssl genpkey -algorithm ED448 -outform DER -out key",
        ],
        "not an EC key, but Apple's keys are P-256: X25519": ["openssl genpkey -algorithm X25519 -out key"],
        "not an EC key, but Apple's keys are P-256: DSA": [
            "openssl dsaparam -genkey -noout 1024 | openssl pkey -out key",
            "openssl dsaparam -genkey -noout 1024 | openssl pkey -traditional -out key",
            "openssl dsaparam -genkey -noout 1024 | openssl pkey -traditional -outform DER -out key",
        ],
        "not an EC key, but Apple's keys are P-256: dhKeyAgreement": [
            "openssl genpkey -algorithm DH -pkeyopt group:ffdhe2048 -out key"
        ],
        "the private key cannot be decoded: it has its curve's parameters instead of the curve's name": [
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit -out key"
        ],
        "an encrypted EC PRIVATE KEY (SEC1), but only PKCS#8 may be encrypted": [
            "openssl ecparam -name prime256v1 -genkey -noout | openssl ec -aes128 -passout pass:x -out key"
        ],
        "the private key cannot be decoded: it holds EC PARAMETERS": ["openssl ecparam -name prime256v1 -out key"],
        "the key file ends in the middle": [
            "\(p256) | head -2 >key", "\(p256) | head -c 20 >key", "\(p256) | head -c 230 >key",
            "\(p256) | sed 3d >key",
            "\(p256) | sed '3s/...$//' >key", "\(p256) | sed 's/END .*/END/' >key",
        ],
        "the private key cannot be decoded: its BEGIN line is missing": ["\(p256) | tail -n +2 >key"],
        "the private key cannot be decoded: its base64 is damaged": [
            "\(p256) | sed '3s/./%/' >key", "\(p256) | sed '2s/.$/=/' >key",
        ],
        "the private key cannot be decoded": [
            "\(p256) | sed '2s/./A/' >key", "\(p256) | sed 's/BEGIN .*/BEGIN private key-----/' >key",
            "\(p256) | sed \"s/BEGIN .*/BEGIN $(printf %041d 0)-----/\" >key",
        ],
        "the private key cannot be decoded: it begins as PRIVATE KEY and ends as PUBLIC KEY": [
            "\(p256) | sed 's/END PRIVATE/END PUBLIC/' >key"
        ],
        "the private key cannot be decoded: it holds 2 private keys": [
            "\(p256) -out one; \(p256) -out two; cat one two >key"
        ],
        "the key is encrypted and no passphrase is configured": [
            "\(p256) | openssl pkcs8 -topk8 -v2 aes-256-cbc -passout pass:x -out key"
        ],
        "too large for a private key": [
            "head -c 16384 /dev/zero | tr '\\0' '\\n' >key; \(p256) >>key", "head -c 200000 /dev/urandom >key",
        ],
        "the private key cannot be decoded: it holds more than 16 PEM blocks": [
            "for _ in $(seq 17); do printf -- '-----BEGIN X-----\nAAAA\n-----END X-----\n'; done >key"
        ],
    ]

    @Test(arguments: bad.keys.sorted()) func aBadKeyIsNamedForWhatItIs(message: String) throws {
        for script in try #require(Self.bad[message]) {
            let directory = try TemporaryDirectory()
            try shell("{ \(script)\n} 2>/dev/null", in: directory)
            #expect(try words { try signingKey(directory("key")) } == "the key: " + message, "\(script)")
        }
    }

    @Test(arguments: [
        p256,
        "\(p256) | sed 's/$/\\r/'",
        "printf '\\357\\273\\277'; \(p256)",
        "printf 'Bag Attributes\\n    friendlyName: x\\n'; \(p256); printf '\\n\\n'",
        "\(p256) | sed 's/^/    /; s/$/  /'",
        "\(p256) | tr -d '\\n' | sed 's/KEY-----/&\\n/; s/-----END/\\n&/'",
        "\(p256) | head -c -1",
        "\(p256) | tee other; openssl req -x509 -key other -subj /CN=a",
        "\(p256) | openssl pkey -ec_conv_form compressed",
        "openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt",
        "openssl ecparam -name prime256v1 -genkey",
        "openssl ecparam -name prime256v1 -genkey -noout",
        "openssl ecparam -name prime256v1 -genkey -noout -conv_form compressed",
        "openssl ecparam -name prime256v1 -genkey -noout | sed 's/EC PRIVATE/PRIVATE/'",
    ]) func aKeyInKindClothesIsTaken(script: String) throws {
        let directory = try TemporaryDirectory()
        try shell("{ \(script); } >key 2>/dev/null", in: directory)
        let key = try signingKey(directory("key"))
        let minted = try key.mint(.sample())
        #expect(TokenReader.read(minted.token, keys: [key.publicKey])?.signer == key.print)
    }

    private static let scalar = bytes("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")
    private static let point = bytes(
        "0460FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
            + "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299")
    private static let order = bytes("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")

    /// The content of a key whose number is 1.
    private static let shortest = Array(PKCS8.der(scalar: [1]).dropFirst(2))

    /// Structures that no tool makes.
    private static let crafted: [(der: [UInt8], message: String?)] = [
        (PKCS8.der(scalar: scalar, point: point), nil),
        (PKCS8.der(scalar: scalar), nil),
        (PKCS8.der(version: 1, scalar: scalar, trailer: [0x81, 2, 0, 4]), nil),
        (PKCS8.der(scalar: scalar, parameters: PKCS8.element(0xA0, PKCS8.p256)), nil),
        (PKCS8.der(scalar: scalar, trailer: [0xA0, 0]), nil),
        (PKCS8.der(scalar: [1]), nil),
        (PKCS8.der(version: 2, scalar: scalar), ""),
        (PKCS8.der(scalar: scalar, trailer: [5, 0]), ""),
        (PKCS8.der(scalar: []), ""),
        (PKCS8.der(scalar: [0] + scalar), ""),
        (PKCS8.der(scalar: scalar, point: []), ""),
        (PKCS8.der(curve: [5, 0], scalar: scalar), ""),
        (PKCS8.der(curve: PKCS8.p256 + [5, 0], scalar: scalar), ""),
        (PKCS8.der(scalar: scalar) + [0], ": bytes follow the key"),
        (PKCS8.der(scalar: [UInt8](repeating: 0, count: 32)), ": its number is not on the curve"),
        (PKCS8.der(scalar: order), ": its number is not on the curve"),
        (PKCS8.der(scalar: [UInt8](repeating: 0xFF, count: 32)), ": its number is not on the curve"),
        (PKCS8.der(scalar: scalar, point: point.dropLast() + [0]), ": its public half is not on the curve"),
        (PKCS8.der(scalar: scalar, point: [0]), ": its public half is not on the curve"),
        (PKCS8.der(scalar: [2], point: point), ": its public half belongs to another key"),
        (PKCS8.der(algorithm: [6, 3, 0x55, 4, 3], scalar: scalar), ": its algorithm is CN"),
        (PKCS8.der(algorithm: [5, 0], scalar: scalar), ""),
        (PKCS8.der(scalar: scalar, parameters: [5, 0]), ""),
        (PKCS8.der(scalar: scalar, parameters: PKCS8.element(0xA1, [5, 0])), ""),
        // A number of bits that is none of whole bytes.
        (PKCS8.der(scalar: scalar, parameters: PKCS8.element(0xA1, PKCS8.element(3, [1] + point))), ""),
        (PKCS8.element(0x30, [2, 1, 0] + PKCS8.element(0x30, PKCS8.ecPublicKey + PKCS8.p256)), ""),
        (PKCS8.element(0x30, [2, 1, 0] + PKCS8.element(0x30, PKCS8.ecPublicKey + PKCS8.p256) + [4, 2, 5, 0]), ""),
        (PKCS8.element(0x30, [2, 1, 0, 5, 0]), ""),
        (PKCS8.element(0x30, [2, 2, 0, 0]), ""),
        // Lengths of more bytes than they need, or than any key has, and without an end.
        ([0x30, 0x81, UInt8(shortest.count)] + shortest, ""), ([0x30, 0x82, 0, UInt8(shortest.count)] + shortest, ""),
        ([0x30, 0x83, 0, 0, UInt8(shortest.count)] + shortest, ""),
        ([0x30, 0x80, 2, 1, 0, 0, 0], ""),
    ]

    @Test(arguments: crafted.indices) func aKeyIsTakenOnlyWhole(index: Int) throws {
        let (der, message) = Self.crafted[index]
        let expected = message.map { "the key: the private key cannot be decoded" + $0 }
        #expect(try words { try signingKey(text: PKCS8.pem(der)) } == expected, "\(index)")
    }

    /// What its own length says is missing, whatever the form of that length.
    @Test(arguments: [
        [0x30], [0x30, 0x81], [0x30, 5, 2, 1, 0], [0x30, 0x81, 0x80, 2, 1, 0], [0x30, 0x82, 1, 0, 2, 1, 0],
    ])
    func aKeyThatWasCutIsNamedSo(der: [UInt8]) throws {
        #expect(try words { try signingKey(text: PKCS8.pem(der)) } == "the key: the key file ends in the middle")
    }

    @Test func curvesOfTheInnerKeyCountAsWell() throws {
        for (parameters, message) in [
            ([6, 5, 0x2B, 0x81, 4, 0, 34], "an EC key on another curve than P-256: secp384r1"),
            (
                [0x30, 0],
                "the private key cannot be decoded: it has its curve's parameters instead of the curve's name"
            ), (PKCS8.p256 + [5, 0], "the private key cannot be decoded"),
        ] {
            let der = PKCS8.der(scalar: Self.scalar, parameters: PKCS8.element(0xA0, parameters))
            #expect(
                try words { try signingKey(text: PKCS8.pem(der)) } == "the key: \(message)")
        }
    }

    @Test func anUnknownCurveIsNamedByItsNumber() throws {
        let der = PKCS8.der(curve: [6, 3, 0x2A, 3, 4], scalar: Self.scalar)
        #expect(
            try words { try signingKey(text: PKCS8.pem(der)) }
                == "the key: an EC key on another curve than P-256: 1.2.3.4")
    }

    @Test func aDirectoryIsNotRead() throws {
        let directory = try TemporaryDirectory()
        let descriptor = unsafe open(directory.path, O_RDONLY | O_DIRECTORY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        #expect(
            try words { try SigningKey(descriptor: descriptor, place: place) }
                == "the key: the key cannot be read (a directory)")
    }

    @Test func aPublicKeyIsReadFromEitherHalf() throws {
        let directory = try TemporaryDirectory()
        let key = try freshKey(in: directory)
        try shell(
            """
            openssl pkey -in key -pubout -out public
            openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 2>/dev/null | openssl pkey -pubout -out rsa
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521 2>/dev/null | openssl pkey -pubout -out p521
            openssl genpkey -algorithm ED25519 2>/dev/null | openssl pkey -pubout -out ed25519
            openssl pkey -in key -pubout | sed 2d >cut
            openssl genpkey -algorithm X25519 2>/dev/null | openssl pkey -pubout -out x25519
            openssl genpkey -algorithm DH -pkeyopt group:ffdhe2048 2>/dev/null | openssl pkey -pubout -out dh
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit 2>/dev/null |
                openssl pkey -pubout -out explicit
            """, in: directory)
        func read(_ name: String) throws -> PublicKey {
            try withFile(directory(name)) { try PublicKey(descriptor: $0, place: place) }
        }
        #expect(try read("key").print == key.print)
        #expect(try read("public").print == key.print)
        let undecodable = "the private key cannot be decoded"
        for (name, message) in [
            ("rsa", "an RSA key, but Apple's keys are P-256"),
            ("p521", "an EC key on another curve than P-256: secp521r1"),
            ("ed25519", "not an EC key, but Apple's keys are P-256: ED25519"),
            ("x25519", "not an EC key, but Apple's keys are P-256: X25519"),
            ("dh", "not an EC key, but Apple's keys are P-256: dhKeyAgreement"),
            ("explicit", "\(undecodable): it has its curve's parameters instead of the curve's name"),
            ("cut", undecodable),
        ] {
            #expect(try words { try read(name) } == "the key: \(message)", "\(name)")
        }
    }
}
