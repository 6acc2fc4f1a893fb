import AppleClientSecret

/// A place behind an API that takes secrets: one entry of `targets` in the configuration.
package struct PushTarget: Sendable {
    package let name: String
    package let kind: PushKind
    /// The values of the kind's ``PushKind/settings``, defaults included; a setting without value is empty.
    package let settings: [String: String]
    /// `https://`, or `http://` on loopback; without a slash at the end. Empty for `http`, whose addresses are whole.
    package let endpoint: String
    /// A PEM file; nil for the machine's authorities.
    package let caFile: String?
    package let token: TokenPlace?
    /// Whether the project that runs with the secret is deployed again after a push; nil for kinds whose secrets act at once.
    package let redeploys: Bool?

    /// Names the deployed project: targets with the same one are deployed together.
    package var project: String {
        let path = (kind.redeployment?.project ?? []).compactMap { settings[$0] }.filter { !$0.isEmpty }
        let server = Self.identity(ofAddress: endpoint)
        return path.joined(separator: "/") + (server == kind.endpoint ? "" : " at \(server)")
    }

    /// The method and address of the request that a secret is sent with.
    package var request: String {
        "\(kind.write.method) \(endpoint)\(PushTemplate.expand(kind.write.path, settings, PushTemplate.percentEncoded))"
    }

    /// The place of the token that the API wants.
    package enum TokenPlace: Hashable, Sendable {
        /// A systemd credential's name, a file below `$CREDENTIALS_DIRECTORY`.
        case credential(String)
        /// A file's absolute path.
        case file(String)
    }

    /// A digest (FNV-1a) of the settings that decide the place: a different text for a different place, from which the settings
    /// cannot be read. It is kept in clients' records: another text has the place pushed to again.
    package var place: String {
        // By the address as written: to push once too often does no harm.
        func written(_ text: String) -> String {
            WebAddress(text, allowingQuery: true).map { $0.origin + $0.path } ?? text
        }
        var words = words(without: kind.settings.filter(\.isLogin).map(\.name), at: written(endpoint))
        // For kinds whose settings are the requests themselves.
        if settings.isEmpty { words += kind.write.texts.map(written) }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for word in words {
            for byte in Array(word.utf8) + [0] { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        }
        return String(hash, radix: 16)
    }

    /// Kind, endpoint and settings, but for some of these.
    ///
    /// - Parameter endpoint: nil for the same text for all addresses of one place.
    func words(without left: [String], at endpoint: String? = nil) -> [String] {
        settings.filter { !left.contains($0.key) }.sorted { $0.key < $1.key }
            .reduce(into: [kind.name, endpoint ?? Self.identity(ofAddress: self.endpoint)]) {
                $0 += [$1.key, $1.value]
            }
    }

    /// The same text for all addresses of one place; a text that is no address stays unchanged.
    static func identity(ofAddress text: String) -> String { WebAddress(text, allowingQuery: true)?.identity ?? text }

    /// The document that a write replaces as a whole; nil if a write changes its own place only.
    package var document: PushDocument? {
        guard let (member, name) = kind.document.map({ ($0.member, $0.name) }) else { return nil }
        return PushDocument(
            place: words(without: [member]).joined(separator: "\0"),
            member: settings[member].flatMap { $0.isEmpty ? nil : $0 }, setting: name)
    }

    package init(
        name: String, kind: PushKind, settings: [String: String], endpoint: String, caFile: String?,
        token: TokenPlace?, redeploys: Bool? = nil
    ) {
        self.name = name
        self.kind = kind
        self.settings = settings
        self.endpoint = endpoint
        self.caFile = caFile
        self.token = token
        self.redeploys = redeploys
    }
}

extension PushTarget {
    /// Why no request could carry this token; nil if one could.
    package func objection(to token: String) -> String? {
        let isOfHeader: Bool
        switch kind.authorization {
        case .bearer, .header: isOfHeader = true
        case .ownHeaders: isOfHeader = kind.mentionsToken
        case .awsSignature:
            return AWSCredentials(token) == nil
                ? "it needs the lines AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=…" : nil
        case .login: isOfHeader = false
        }
        return !isOfHeader || Self.isOfHeader(token) ? nil : Self.headerWords
    }

    static func isOfHeader(_ text: String) -> Bool { text.utf8.allSatisfy(\.isASCIIPrintable) }

    static let headerWords = "it contains characters that a header cannot have"
}

/// The document that a write to a target replaces as a whole. Several targets may have members of one document, which are then
/// written together.
package struct PushDocument: Hashable, Sendable {
    /// The same text for each target that writes to the document; neither kept nor shown.
    package let place: String
    /// The member of the JSON object that is the target's; nil if the whole document is.
    package let member: String?
    /// The target's setting that names the document.
    package let setting: String
}
