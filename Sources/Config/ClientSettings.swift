import AppleClientSecret
import Model
import Push

/// The settings of a client, or those of `defaults`.
///
/// A setting is in four places here: its name, its property, where it is read, and, for all but `client_id`,
/// ``completed(by:)``. ``WrittenClient`` makes it part of the configuration; what means nothing where secrets are received,
/// or where they are minted, it has to report.
struct ClientSettings {
    /// Those that `defaults` may have too.
    static let shared = [
        "kind", "origin", "scope", "from", "key", "lifetime", "renew_before", "outputs", "on_change", "deliver_over",
        "verify", "credential",
        "share", "rollout",
    ]
    /// The one that belongs to one client.
    private static let own = "client_id"
    static let names = [own] + shared

    private(set) var kind: Setting<TokenKind> = .absent
    private(set) var clientID: Setting<ClientID> = .absent
    /// One origin, or several.
    private(set) var origins: Setting<[WebOrigin]> = .absent
    private(set) var scope: Setting<String> = .absent
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
    private(set) var rollout: Setting<RolloutSettings> = .absent
    private(set) var source: Setting<SourceConfiguration> = .absent

    /// The files among the outputs.
    var files: [FileOutput] {
        (outputs.value ?? []).compactMap { if case .file(let file)? = $0 { file } else { nil } }
    }

    /// The targets among the outputs.
    var targets: [Located<TargetName>] {
        (outputs.value ?? []).compactMap { if case .push(let target)? = $0 { target } else { nil } }
    }

    /// Nothing is set.
    init() {}

    private init(_ section: Section) {
        kind = section.value("kind", Scalar.kind)
        origins = Self.origins(in: section)
        scope = section.value("scope", { text throws(ValueError) in text })
        source = SourceSettings.read(in: section)
        keys = Self.keys(in: section)
        lifetime = section.value("lifetime", Scalar.lifetime)
        renewBefore = section.value("renew_before", Scalar.renewBefore)
        outputs = section.list("outputs") { OutputSetting($0, section.diagnostics) }
        onChange = ActionKinds.list("on_change", in: section)
        deliverOver = section.value("deliver_over", Scalar.deliverOver)
        verify = section.value("verify", Scalar.truth)
        share = section.value("share", Scalar.truth)
        rollout = RolloutSettingsSection.read(in: section)
        credential = CredentialSettings.read(in: section)
    }

    private static func keys(in section: Section) -> Setting<[Located<KeyName>]> {
        if let (node, position) = section.node("key"), case .sequence(let items) = node.content {
            let names = items.map {
                Setting($0, named: "a key", at: $0.position, section.diagnostics, Scalar.keyName)
            }
            if items.isEmpty {
                section.diagnostics.error(at: position, "\"key\" names no key; write one or remove the line")
            }
            let known = names.compactMap(\.located)
            return known.count == items.count && !items.isEmpty ? .given(Located(known, at: node.position)) : .wrong
        }
        switch section.value("key", Scalar.keyName) {
        case .given(let name): return .given(Located([name], at: name.position))
        case .wrong: return .wrong
        case .absent: return .absent
        }
    }

    private static func origins(in section: Section) -> Setting<[WebOrigin]> {
        if let (node, position) = section.node("origin"), case .sequence(let items) = node.content {
            let known = items.compactMap {
                Setting($0, named: "an origin", at: $0.position, section.diagnostics, Scalar.origin).value
            }
            guard !items.isEmpty, items.count <= WebOrigin.maximumCount else {
                section.diagnostics.error(
                    at: position,
                    "\"origin\" lists \(items.isEmpty ? "no origin" : "more than \(WebOrigin.maximumCount) origins"); "
                        + "write the origin of each page, or remove the line to allow all pages")
                return .wrong
            }
            return known.count == items.count ? .given(Located(known, at: node.position)) : .wrong
        }
        switch section.value("origin", Scalar.origin) {
        case .given(let origin): return .given(Located([origin.value], at: origin.position))
        case .wrong: return .wrong
        case .absent: return .absent
        }
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
        clientID = section.value(Self.own, Scalar.clientID)
    }

    /// The settings of `defaults`.
    init(defaults node: YAMLNode, at position: Position, _ diagnostics: Diagnostics) {
        guard
            let section = Section(
                node, of: "\"defaults\"", at: position, names: Self.shared + [Self.own], diagnostics)
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

    /// These settings, with absent ones taken from `defaults`. A list replaces the default's list and does not add to
    /// it. What is not for the client's kind is left out.
    func completed(by defaults: ClientSettings) -> ClientSettings {
        var all = self
        all.kind = kind.or(defaults.kind)
        let rules = (all.kind.value ?? .signIn).rules
        if rules.origins != .none { all.origins = origins.or(defaults.origins) }
        if !rules.scopes.isEmpty { all.scope = scope.or(defaults.scope) }
        all.source = source.or(defaults.source)
        all.keys = keys.or(defaults.keys)
        all.lifetime = lifetime.or(defaults.lifetime)
        all.renewBefore = renewBefore.or(defaults.renewBefore)
        all.outputs = outputs.or(defaults.outputs)
        all.onChange = onChange.or(defaults.onChange)
        all.deliverOver = deliverOver.or(defaults.deliverOver)
        all.verify = verify.or(defaults.verify)
        all.share = share.or(defaults.share)
        all.rollout = rollout.or(defaults.rollout)
        all.credential = credential.or(defaults.credential)
        return all
    }
}
