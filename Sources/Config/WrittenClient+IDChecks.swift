import AppleClientSecret
import Model

extension WrittenClient {
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
    func checkIDs(_ keys: [KeySettings], _ diagnostics: Diagnostics) {
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
}
