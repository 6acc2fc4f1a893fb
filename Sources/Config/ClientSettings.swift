import AppleClientSecret
import Model
import Push

/// The settings of a client, or those of `defaults`.
///
/// A setting is a property and its row in ``rows``. ``WrittenClient`` makes it part of the configuration.
struct ClientSettings {
    private(set) var kind: Setting<TokenKind> = .absent
    private(set) var clientID: Setting<ClientID> = .absent
    /// One origin, or several.
    private(set) var origins: Setting<[Located<WebOrigin>]> = .absent
    private(set) var scope: Setting<String> = .absent
    private(set) var source: Setting<SourceConfiguration> = .absent
    /// One key, or several in the order of preference.
    private(set) var keys: Setting<[Located<KeyName>]> = .absent
    private(set) var lifetime: Setting<WrittenLifetime> = .absent
    private(set) var renewBefore: Setting<Seconds> = .absent
    private(set) var outputs: Setting<[OutputSetting?]> = .absent
    private(set) var onChange: Setting<[Located<Action>?]> = .absent
    private(set) var deliverOver: Setting<Seconds> = .absent
    private(set) var verify: Setting<Bool> = .absent
    private(set) var credential: Setting<ServedCredential> = .absent
    private(set) var share: Setting<Bool> = .absent
    private(set) var rollout: Setting<RolloutConfiguration> = .absent

    /// The settings that `defaults` may have too.
    static let rows: [Row] = [
        Row("kind", \.kind, parseKind),
        Row("origin", \.origins, isOf: { $0.origins != .none }, read: readOrigins),
        Row(
            "scope", \.scope, isOf: { !$0.scopes.isEmpty },
            read: { $0.value("scope") { text throws(ValueError) in text } }),
        Row("from", \.source, read: SourceSettings.read),
        Row("key", \.keys, read: readKeys),
        Row("lifetime", \.lifetime, isOfMinting: true, WrittenLifetime.read),
        Row("renew_before", \.renewBefore, parseRenewBefore),
        Row("outputs", \.outputs) { section in section.list("outputs") { OutputSetting($0, section.diagnostics) } },
        Row("on_change", \.onChange) { ActionKinds.list("on_change", in: $0) },
        Row("deliver_over", \.deliverOver, parseDeliverOver),
        Row("verify", \.verify, isOfMinting: true, Scalar.truth),
        Row("credential", \.credential, read: CredentialSettings.read),
        Row("share", \.share, isOfMinting: true, Scalar.truth),
        Row("rollout", \.rollout, isOfMinting: true, read: RolloutSettings.read),
    ]

    /// The setting that belongs to one client.
    private static let own = "client_id"
    static let names = [own] + rows.map(\.name)

    /// One setting.
    struct Row: Sendable {
        let name: String
        /// Whether it means nothing for a client that receives its secrets.
        let isOfMinting: Bool
        /// Reads it from a section.
        fileprivate let read: @Sendable (Section, inout ClientSettings) -> Void
        /// Takes it from `defaults` if the client does not have it.
        fileprivate let complete: @Sendable (inout ClientSettings, _ defaults: ClientSettings) -> Void
        let position: @Sendable (ClientSettings) -> Position?

        /// - Parameter isOf: whether tokens of such a kind have it.
        fileprivate init<Value>(
            _ name: String, _ path: any WritableKeyPath<ClientSettings, Setting<Value>> & Sendable,
            isOfMinting: Bool = false,
            isOf: @escaping @Sendable (TokenKind.Rules) -> Bool = { _ in true },
            read: @escaping @Sendable (Section) -> Setting<Value>
        ) {
            self.name = name
            self.isOfMinting = isOfMinting
            self.read = { section, settings in settings[keyPath: path] = read(section) }
            complete = { settings, defaults in
                guard isOf((settings.kind.value ?? .signIn).rules) else { return }
                settings[keyPath: path] = settings[keyPath: path].or(defaults[keyPath: path])
            }
            position = { $0[keyPath: path].position }
        }

        /// A single value.
        fileprivate init<Value>(
            _ name: String, _ path: any WritableKeyPath<ClientSettings, Setting<Value>> & Sendable,
            isOfMinting: Bool = false,
            _ parse: @escaping @Sendable (String) throws(ValueError) -> Value
        ) {
            self.init(name, path, isOfMinting: isOfMinting) { $0.value(name, parse) }
        }
    }

    @Sendable private static func readOrigins(in section: Section) -> Setting<[Located<WebOrigin>]> {
        section.oneOrMore("origin", each: "an origin", parseOrigin) { count in
            guard count == 0 || count > WebOrigin.maximumCount else { return nil }
            return
                "lists \(count == 0 ? "no origin" : "more than \(WebOrigin.maximumCount) origins"); write the origin of "
                + "each page, or remove the line to allow all pages"
        }
    }

    @Sendable private static func readKeys(in section: Section) -> Setting<[Located<KeyName>]> {
        section.oneOrMore("key", each: "a key", Scalar.keyName) {
            $0 == 0 ? "names no key; write one or remove the line" : nil
        }
    }

    /// The files among the outputs.
    var files: [FileOutputSettings] {
        (outputs.value ?? []).compactMap { if case .file(let file)? = $0 { file } else { nil } }
    }

    /// The targets among the outputs.
    var targets: [Located<TargetName>] {
        (outputs.value ?? []).compactMap { if case .push(let target)? = $0 { target } else { nil } }
    }

    /// Nothing is set.
    init() {}

    private init(_ section: Section) {
        for row in Self.rows { row.read(section, &self) }
    }

    /// The settings of one client, which `owner` calls in messages.
    init?(_ entry: YAMLEntry, of owner: String, _ diagnostics: Diagnostics) {
        // All settings can come from "defaults", so the name may be enough.
        if case .scalar("") = entry.value.content {
            self.init()
            return
        }
        guard
            let section = Section(entry.value, of: owner, at: entry.key.position, names: Self.names, diagnostics)
        else { return nil }
        self.init(section)
        clientID = section.value(Self.own, Self.parseClientID)
    }

    /// The settings of `defaults`.
    init(defaults node: YAMLNode, at position: Position, _ diagnostics: Diagnostics) {
        guard
            let section = Section(
                node, of: "\"defaults\"", at: position, names: Self.rows.map(\.name) + [Self.own], diagnostics)
        else {
            self.init()
            return
        }
        if section.has(Self.own) {
            diagnostics.error(
                at: section.position(of: Self.own), "\"\(Self.own)\" belongs to one client; write it under that client")
        }
        self.init(section)
    }

    /// These settings, with absent ones taken from `defaults`. A list replaces the default's list and does not add to it.
    /// Settings that do not suit the client's kind are left out.
    func completed(by defaults: ClientSettings) -> ClientSettings {
        var all = self
        // The kind is the first row: the others depend on it.
        for row in Self.rows { row.complete(&all, defaults) }
        return all
    }
}

/// The texts of single values.
extension ClientSettings {
    private static func parseClientID(_ text: String) throws(ValueError) -> ClientID {
        guard let clientID = ClientID(identifier: text) else {
            throw ValueError(
                "\(quoted(text)) is not a Services ID or App ID; write it as Apple shows it, such as com.example.web")
        }
        return clientID
    }

    @Sendable private static func parseKind(_ text: String) throws(ValueError) -> TokenKind {
        if let kind = TokenKind(text) { return kind }
        let near = suggestion(for: text, among: TokenKind.allCases.map(\.rawValue))
        throw ValueError("\(quoted(text)) is not a kind of token; \(near ?? "write one of \(TokenKind.names)")")
    }

    @Sendable private static func parseOrigin(_ text: String) throws(ValueError) -> WebOrigin {
        if let origin = WebOrigin(page: text) { return origin }
        throw ValueError(
            "\(quoted(text)) is not an origin; "
                + (WebOrigin(meantBy: text).map { "write \"\($0)\"" }
                    ?? "write it like https://www.example.com, without a path"))
    }

    @Sendable private static func parseRenewBefore(_ text: String) throws(ValueError) -> Seconds {
        try Scalar.duration(text, examples: "30d, 12h or 1d12h", in: SettingLimits.renewBefore)
    }

    @Sendable private static func parseDeliverOver(_ text: String) throws(ValueError) -> Seconds {
        try Scalar.duration(text, examples: "10m, 1h or 0s", in: SettingLimits.deliverOver)
    }
}
