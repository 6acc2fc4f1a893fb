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

    private func subject() throws(KindMisfit) -> ClientID? {
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

    /// Reports settings that do not suit the client's kind.
    private func checkKind(_ keys: [KeySettings], _ diagnostics: Diagnostics) {
        if settings.kind.isWrong { return }
        do throws(KindMisfit) {
            _ = try subject()
        } catch {
            let position: Position? =
                switch error.setting {
                case "origin": settings.origins.position
                case "scope": settings.scope.position
                default: settings.clientID.position
                }
            diagnostics.error(
                at: position ?? settings.kind.position ?? name.position, "client \"\(name.value)\": \(error.words)")
        }
        for key in keys {
            guard let team = key.team.value, let keyID = key.keyID.value,
                let misfit = kind.misfit(team: team, keyID: keyID)
            else { continue }
            diagnostics.error(
                at: settings.kind.position ?? settings.keys.position ?? name.position,
                "client \"\(name.value)\" has kind \(kind), but its key \"\(key.name.value)\" does not fit: \(misfit.words); "
                    + "write another key or kind")
        }
        if settings.verify.value == true, clientID?.canBeTried == false {
            diagnostics.warning(
                at: settings.verify.position ?? name.position,
                "client \"\(name.value)\" cannot be verified, because Apple offers no check of a Maps token for web pages; "
                    + "remove \"verify\", or write \"scope: \(ClientID.scopeOfServers)\" for a server's token")
        }
    }

    /// Reports a client id that is another kind of id.
    private func checkIDs(_ keys: [KeySettings], _ diagnostics: Diagnostics) {
        checkKind(keys, diagnostics)
        guard let clientID, clientID.kind == .signIn else { return }
        let position = settings.clientID.position ?? name.position
        let advice = "write the Services ID or App ID as Apple shows it under Identifiers, such as com.example.web"
        for key in keys {
            guard let team = key.team.value, let keyID = key.keyID.value,
                let mixup = IdentifierMixup(client: clientID, team: team, keyID: keyID)
            else { continue }
            let words: String? =
                switch mixup {
                // Reported with the key.
                case .teamIsKeyID: nil
                case .clientIsTeam: "is the team id of key \"\(key.name.value)\"; \(advice)"
                case .clientIsKeyID: "is the key id of key \"\(key.name.value)\"; \(advice)"
                case .clientHasTeamPrefix:
                    "begins with the team id; write \"\(clientID.description.dropFirst(11))\", without the prefix that "
                        + "profiles and entitlements show"
                }
            if let words { return diagnostics.error(at: position, "client id \(clientID) \(words)") }
        }
        let prefix = clientID.description.split(separator: ".").first.map(String.init) ?? ""
        let doubt: String
        if KeyID(clientID.description) != nil {
            doubt = "looks like the id of a team or a key; \(advice)"
        } else if clientID.description.uppercased().hasPrefix("SEARCHADS.") {
            doubt =
                "looks like one of Apple Ads; write SEARCHADS. and the id, in capitals, and \"kind: \(TokenKind.appleAds)\""
        } else if TeamID(prefix) != nil {
            doubt =
                "begins with \(prefix), which looks like the id of a team; write it without the prefix that "
                + "profiles and entitlements show"
        } else {
            return
        }
        diagnostics.warning(at: position, "client id \(clientID) \(doubt)")
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
