import AppleClientSecret
import Model
import Push

/// One entry of `clients`.
final class WrittenClient: Sendable {
    let name: Located<ClientName>
    /// Its own settings, completed from `defaults`.
    let settings: ClientSettings
    /// Its own settings.
    let own: ClientSettings

    var source: Setting<SourceConfiguration> { settings.source }

    /// Nil when its name is invalid or its value no mapping; errors in its settings are still reported.
    convenience init?(_ entry: YAMLEntry, _ diagnostics: Diagnostics) {
        let (name, owner) = Scalar.name(of: entry, "client", diagnostics) { ClientName($0) }
        guard let settings = ClientSettings(entry, of: owner, diagnostics), let name else { return nil }
        self.init(name, settings, own: settings)
    }

    private init(_ name: Located<ClientName>, _ settings: ClientSettings, own: ClientSettings) {
        self.name = name
        self.settings = settings
        self.own = own
    }

    /// The client with missing settings taken from `defaults`.
    func completed(by defaults: ClientSettings) -> WrittenClient {
        WrittenClient(name, own.completed(by: defaults), own: own)
    }

    var kind: TokenKind { settings.kind.value ?? .signIn }

    /// The subject of its secrets: the configured id, else the name, or the subject that the kind uses. Nil when that is invalid.
    var clientID: ClientID? { try? subject() }

    /// - Throws: why the settings name no client of this kind.
    func subject() throws(KindMisfit) -> ClientID? {
        if settings.kind.isWrong || settings.clientID.isWrong || settings.origins.isWrong || settings.scope.isWrong {
            return nil
        }
        // The name is the id of many clients of Sign in with Apple, and of no others.
        let named = kind == .signIn ? ClientID(identifier: name.value.description) : nil
        return try kind.client(
            settings.clientID.value ?? named, origins: settings.origins.value?.map(\.value) ?? [],
            scope: settings.scope.value)
    }

    /// The client with these settings, once completed; nil when one of them is wrong.
    ///
    /// - Parameters:
    ///   - keys: the keys that may sign its secrets, if they are known.
    ///   - targets: those that are configured.
    ///   - hasStore: whether there is a store from which it could receive.
    func configuration(
        keys: [KeySettings]?, targets: [TargetSettings], hasStore: Bool, _ diagnostics: Diagnostics
    ) -> ClientConfiguration? {
        let isReceived = isReceived(keys, hasStore: hasStore, diagnostics)
        if let position = own.rollout.position, !isReceived, !hasStore || settings.share.value == false {
            diagnostics.error(
                at: position,
                "client \"\(name.value)\" shares its secrets with no other machine, because "
                    + (hasStore ? "\"share\" is false" : "there is no \"store\"") + "; remove \"rollout\"")
        }
        let times = isReceived ? receivedTimes : times(diagnostics)
        if settings.outputs.isAbsent || settings.outputs.value?.isEmpty == true, settings.credential.isAbsent {
            diagnostics.error(
                at: name.position,
                "client \"\(name.value)\" has no outputs; write \"outputs\" with a \"path\""
            )
        }
        checkIDs(keys ?? [], diagnostics)
        guard let key = keys?.first?.name.value, let times, let clientID else { return nil }
        var source = self.source(by: keys).value ?? (isReceived ? SourceConfiguration(.store) : nil)
        source?.renewBefore = settings.renewBefore.value
        source?.deliverOver = settings.deliverOver.value ?? SourceConfiguration.defaultDeliverOver
        let pushed = settings.targets.compactMap { target in
            targets.first { $0.name.value == target.value }?.target.map { (name: target.value, target: $0) }
        }
        let deployments = pushed.filter { $0.target.redeploys == true }.map {
            Action.redeploy(project: $0.target.project, targets: [$0.name])
        }
        var configuration = ClientConfiguration(
            clientID: clientID, key: key, lifetime: times.lifetime, renewBefore: times.renewBefore,
            outputs: settings.files.compactMap(\.configuration),
            onChange: (settings.onChange.value ?? []).compactMap { $0?.value } + deployments,
            verify: !isReceived && clientID.canBeTried && (settings.verify.value ?? ClientConfiguration.defaultVerify),
            credential: settings.credential.value, source: source,
            otherKeys: keys?.dropFirst().map(\.name.value) ?? [],
            targets: pushed.map { PushOutput(target: $0.name, place: $0.target.place) },
            isShared: settings.share.value ?? ClientConfiguration.defaultShare)
        if !isReceived, hasStore, configuration.isShared { configuration.rollout = settings.rollout.value }
        for (name, target) in pushed { configuration.documents[name] = target.document?.place }
        configuration.undeployed = Set(pushed.filter { $0.target.redeploys == false }.map(\.name))
        return configuration
    }

    /// Its source. That of "defaults" is for clients whose key is a public one.
    private func source(by keys: [KeySettings]?) -> Setting<SourceConfiguration> {
        guard let keys, own.source.isAbsent, !keys.contains(where: \.isPublic) else { return settings.source }
        return .absent
    }

    /// Whether the client's secrets are received and not minted, after its keys and settings were compared with that.
    private func isReceived(_ keys: [KeySettings]?, hasStore: Bool, _ diagnostics: Diagnostics) -> Bool {
        guard let keys else { return !settings.source.isAbsent }
        let source = self.source(by: keys)
        let named = settings.keys.value?.last?.position ?? name.position
        let owner = "client \"\(name.value)\""
        let isFromStore = source.isAbsent && hasStore && keys.contains(where: \.isPublic)
        guard !source.isAbsent || isFromStore else {
            if let position = own.deliverOver.position {
                diagnostics.error(
                    at: position,
                    "\(owner) mints its secrets, and \"deliver_over\" is for one that receives them; remove the line")
            }
            if let key = keys.first(where: \.isPublic) {
                diagnostics.error(
                    at: name.position,
                    "\(owner) cannot mint, because key \"\(key.name.value)\" is a public_key; write \"from\" with the "
                        + "\"path\" of a file that something else renews, or a \"store\"")
            } else if keys.count > 1 {
                diagnostics.error(
                    at: named, "\(owner) mints with one key; write only the key that signs, without a list")
            }
            return false
        }
        if let key = keys.first(where: { !$0.isPublic && $0.location.value != nil }) {
            diagnostics.error(
                at: source.position ?? named,
                "\(owner) mints its own secrets, because key \"\(key.name.value)\" is a private key; "
                    + (isFromStore ? "name it alone, or write " : "remove \"from\", or write ")
                    + "\"public_key\" for the key")
        }
        for setting in ClientSettings.rows where setting.isOfMinting {
            guard let position = setting.position(own) else { continue }
            diagnostics.error(
                at: position,
                "\(owner) receives its secrets, so \"\(setting.name)\" is decided where they are minted; remove the line"
            )
        }
        return true
    }
}
