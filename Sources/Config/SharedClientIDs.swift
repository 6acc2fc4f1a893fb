import AppleClientSecret
import Model

extension WrittenConfiguration {
    /// Warns of clients with one client id: their outputs might belong to one client.
    func warnOfSharedClientIDs(_ diagnostics: Diagnostics) {
        var ids: [ClientID: Located<ClientName>] = [:]
        for client in clients {
            guard case let id? = client.clientID, id.identifier != nil else { continue }
            if let first = ids[id] {
                let position = client.settings.clientID.position ?? client.name.position
                diagnostics.warning(
                    at: position,
                    "\(quoted(id.description)) is also the client id of \"\(first.value)\" "
                        + "(\(first.position.seen(from: position))); one client may have several outputs")
            } else {
                ids[id] = client.name
            }
        }
    }
}
