import Model

/// The facts that must be known before anything is decided about a client.
extension Rotation {
    /// Whether a client is completely known, and no secret or record of it is under way. Its files and actions then have
    /// nothing more to wait for.
    func isSettled(_ client: ConfiguredClient) -> Bool {
        let record = Resource.record(client.name)
        let isKept =
            clients[client].record.value.current == clients[client].secret.current || jobs.failsOrIsOverdue(record)
        return isKept && !jobs.isBusy(.client(client.name)) && isKnown(client)
    }

    /// Whether everything that decides about a client's secret was read, failed or is overdue.
    func isKnown(_ client: ConfiguredClient) -> Bool {
        guard wereKeysAndRecordRead(client), isSourceKnown(client) else { return false }
        return client.files.allSatisfy { path in
            files.isFresh(path) || jobs.failsOrIsOverdue(.file(path))
        }
    }

    private func isSourceKnown(_ client: ConfiguredClient) -> Bool {
        guard let source = client.entry.source else { return true }
        if clients[client].source?.reading.wasTried == true || jobs.isOverdue(sourceResource(of: client)) {
            return true
        }
        // The secret from the state directory is served before the store answers.
        return source.isStore && wantedSecret(client) != nil
    }

    /// Whether the keys and the client's record were read, failed or are overdue.
    func wereKeysAndRecordRead(_ client: ConfiguredClient) -> Bool {
        (clients[client].record.wasTried || jobs.isOverdue(.record(client.name))) && wereKeysRead(client)
    }

    func wereKeysRead(_ client: ConfiguredClient) -> Bool {
        client.keys.allSatisfy { keys.isFresh($0.name) || jobs.isOverdue(.key($0.name)) }
    }
}
