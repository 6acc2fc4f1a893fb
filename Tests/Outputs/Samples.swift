import AppleClientSecret
import Digest
import Formats
import Linux
import Model
import Outputs
import TestSupport
import Testing

/// Secrets and files as the tests need them. Nothing here looks at a signature, so there is none.
enum Samples {

    static func secret(_ number: Int = 0, client: String = "com.example.web") throws -> Secret {
        let claims = Claims.sample(number, of: client)
        let token = Token(claims.sampleToken(number))
        return Secret(token: token, issued: SecretInfo(fingerprint: token.fingerprint, claims: claims, signer: nil))
    }

    static func text(_ secret: Secret) -> String {
        secret.token.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// As a JSON file.
    static func json(_ secret: Secret) -> [UInt8] {
        JSONFormat(parameter: nil).render(
            [.whole: RenderedSecret(token: secret.token.withBytes { $0 }, claims: secret.issued.claims)], into: [])
    }

    static func path(_ text: String) throws -> AbsolutePath {
        try #require(AbsolutePath(text))
    }

    static func file(
        _ path: String, _ format: FileFormat = .raw, mode: UInt16? = nil, group: String? = nil,
        variables: [String] = ["SECRET"]
    ) throws -> FileSpec {
        let client = try #require(ClientName("web"))
        let slots: [FileSlot] = format.isShared ? variables.map(FileSlot.variable) : [.whole]
        return FileSpec(
            path: try Samples.path(path), format: format, mode: mode, group: group, owner: nil,
            slots: Dictionary(uniqueKeysWithValues: slots.map { ($0, client) }))
    }

    static func publisher(_ reservedPaths: ReservedPaths = ReservedPaths()) -> Publisher {
        Publisher(as: .current(), naming: TemporaryNames(), reservedPaths: reservedPaths)
    }

    static func metricsFile(_ path: String, _ reservedPaths: ReservedPaths) throws -> MetricsFile {
        MetricsFile(try Samples.path(path), as: .current(), naming: TemporaryNames(), reservedPaths: reservedPaths)
    }
}

extension OutputContents {
    /// What a slot was seen to hold, by its fingerprint.
    func fingerprint(_ slot: FileSlot = .whole) -> Fingerprint? {
        if case .token(let token)? = slots[slot] { token.fingerprint } else { nil }
    }
}

extension Publisher {
    /// Publishes; whether that has replaced the file.
    func replaces(_ secrets: [FileSlot: Secret], in file: FileSpec, mayCreate: Bool = true) throws -> Bool {
        let path = file.path.description
        let before = FileStatus.following(path)?.identity
        _ = try publish(secrets, in: file, mayCreate: mayCreate)
        return FileStatus.following(path)?.identity != before
    }
}
