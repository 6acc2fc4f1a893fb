import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// Values that the tests of the core share.
enum Values {
    static let day: Int64 = 86_400
    /// 2027-01-15T08:00:00Z.
    static let start: Int64 = 1_800_000_000

    static func moment(_ offset: Int64) -> WallTime {
        WallTime(secondsSinceEpoch: start + offset)
    }

    static func name(_ text: String) throws -> ClientName {
        try #require(ClientName(text))
    }

    /// A file in the output directory, or an absolute path.
    static func path(_ text: String) throws -> AbsolutePath {
        try #require(AbsolutePath(text.hasPrefix("/") ? text : "/out/" + text))
    }

    static func key(_ text: String = "apple") throws -> KeyName {
        try #require(KeyName(text))
    }

    static func print(_ digit: Character) throws -> KeyDigest {
        try #require(KeyDigest(String(repeating: digit, count: 64)))
    }

    /// The client `web`, as machines report it.
    static var identity: ClientIdentity { ClientIdentity(team: place().team, client: place().client) }

    /// Where the store holds the secrets of `web` that a key has signed, by its digit.
    static func place(ofKey digit: Character = "1") -> StorePlace {
        guard let team = TeamID("DEF123GHIJ"), let client = ClientID("com.example.web"),
            let key = KeyDigest(String(repeating: digit, count: 64))
        else { fatalError("a value of the tests is not valid") }
        return StorePlace(team: team, client: client, key: key)
    }

    static func keyEntry(team: String = "DEF123GHIJ", keyID: String = "ABC123DEFG", file: String = "/keys/apple.p8")
        throws -> KeyConfiguration
    {
        KeyConfiguration(
            team: try #require(TeamID(team)), keyID: try #require(KeyID(keyID)),
            location: .file(try #require(AbsolutePath(file))))
    }

    /// The key that clients use by default, and another one.
    static func withSpareKey() throws -> [String: KeyConfiguration] {
        ["apple": try keyEntry(), "spare": try keyEntry(keyID: "XYZ123DEFG", file: "/keys/spare.p8")]
    }

    /// A client with a raw output `NAME.jwt` and secrets of 90 days that are renewed 30 days before their end.
    static func client(
        _ name: String, id: String? = nil, key keyName: String = "apple", lifetime: Int64 = 90 * day,
        renewBefore: Int64 = 30 * day, outputs: [Output]? = nil, actions: [Action] = [],
        credential: ServedCredential? = nil
    ) throws -> ClientConfiguration {
        ClientConfiguration(
            clientID: try #require(ClientID(id ?? "com.example.\(name)")), key: try key(keyName),
            lifetime: try #require(Lifetime(seconds: Seconds(lifetime))), renewBefore: Seconds(renewBefore),
            outputs: try outputs ?? [raw("\(name).jwt")], onChange: actions, credential: credential)
    }

    /// A client that receives its secrets, with an action.
    static func receiver(_ source: SourceConfiguration, name: String = "web") throws -> ClientConfiguration {
        var client = try client(name, actions: [exec("/bin/tell")])
        client.lifetime = .maximum
        client.source = source
        return client
    }

    /// What a client that receives has of its keys, `apple` and perhaps `former`.
    static func publicKeys(_ names: [String] = ["apple"]) throws -> [String: KeyConfiguration] {
        var entries = ["apple": try keyEntry(), "former": try keyEntry(keyID: "XYZ123DEFG")]
        for name in entries.keys { entries[name]?.location = .publicKey([]) }
        return entries.filter { names.contains($0.key) }
    }

    /// Two clients, `web` and `native`, each with a variable in `/srv/.env`.
    static func sharingAFile(keyOfNative: String = "apple") throws -> [String: ClientConfiguration] {
        [
            "web": try client("web", outputs: [env("/srv/.env", "WEB")]),
            "native": try client("native", key: keyOfNative, outputs: [env("/srv/.env", "NATIVE")]),
        ]
    }

    static func raw(_ file: String) throws -> Output {
        Output(path: try path(file), format: .raw)
    }

    static func env(_ file: String, _ variable: String) throws -> Output {
        Output(path: try path(file), format: .env, slot: .variable(variable))
    }

    /// A failure at a file.
    static func failure(_ code: Failure.Code, _ file: String) throws -> Failure {
        Failure(code, at: .path(try path(file)))
    }

    static func exec(_ program: String) -> Action {
        .exec(arguments: [program], timeout: Action.defaultTimeout)
    }

    static func configuration(
        _ clients: [String: ClientConfiguration], keys: [String: KeyConfiguration]? = nil, store: SecretStore? = nil,
        onStateChange: [Action] = [], metricsFile: AbsolutePath? = nil
    ) throws -> Configuration {
        var entries: [KeyName: KeyConfiguration] = [:]
        for (name, entry) in try keys ?? ["apple": keyEntry()] { entries[try key(name)] = entry }
        var named: [ClientName: ClientConfiguration] = [:]
        for (name, entry) in clients { named[try Values.name(name)] = entry }
        return Configuration(
            keys: entries, clients: named, onStateChange: onStateChange, metricsFile: metricsFile, store: store)
    }

    /// A secret as an earlier run may have left it; `from` and `to` are seconds after ``start``.
    static func issued(
        _ number: UInt64, id: String = "com.example.web", team: String = "DEF123GHIJ", keyID: String = "ABC123DEFG",
        from: Int64 = -60, to: Int64 = 90 * day, signer: KeyDigest?
    ) throws -> SecretInfo {
        SecretInfo(
            SecretName(Fingerprint(leadingBytes: number), signed: Fingerprint(leadingBytes: number)),
            claims: Claims(
                issuer: try #require(TeamID(team)), keyID: try #require(KeyID(keyID)),
                subject: try #require(ClientID(id)), issuedAt: moment(from), expiresAt: moment(to)),
            signer: signer)
    }

    /// The same secret with another signature, of which the signer is given.
    static func altered(_ issued: SecretInfo, _ number: UInt64, signer: KeyDigest?) -> SecretInfo {
        SecretInfo(
            SecretName(Fingerprint(leadingBytes: number), signed: issued.name.signed), claims: issued.claims,
            signer: signer)
    }
}

extension FileFormat {
    /// The formats of the registry, which the core itself does not know.
    static let raw = FileFormat(name: "raw")
    static let json = FileFormat(name: "json")
    static let env = FileFormat(name: "env", isShared: true)
}
