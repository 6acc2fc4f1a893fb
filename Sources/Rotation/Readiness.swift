/// Which clients were tried as far as possible, and whether the daemon is ready: once every client was tried.
///
/// - A client was tried when its secret is published and kept, or a known failure prevents it.
/// - After a reload each client is tried anew; the daemon stays ready.
struct Readiness: Sendable {
    private(set) var isReady = false
    /// Clients that were not tried yet since the start or the last reload.
    private var untried: Set<ClientName> = []
    /// Clients that were tried since the start, under any configuration.
    private var wasEverTried: Set<ClientName> = []

    var areAllTried: Bool { untried.isEmpty }

    func isUntried(_ client: ClientName) -> Bool { untried.contains(client) }

    func wasEverTried(_ client: ClientName) -> Bool { wasEverTried.contains(client) }

    mutating func adopt(_ clients: [ClientName]) {
        untried = Set(clients)
        wasEverTried.formIntersection(untried)
    }

    fileprivate mutating func tried(_ client: ClientName) {
        untried.remove(client)
        wasEverTried.insert(client)
    }

    fileprivate mutating func beReady() {
        isReady = true
    }

    func checkInvariants(_ index: Index) -> [String] {
        untried.union(wasEverTried).isSubset(of: index.names) ? [] : ["a client is tried that is not configured"]
    }
}

extension Rotation {
    /// Marks those of these clients that were tried by now.
    mutating func noteTried(_ clients: [Subject], at now: Now) {
        // Several clients may share a file.
        var files: [AbsolutePath: Bool] = [:]
        for client in clients where readiness.isUntried(client.name) && wasTried(client, &files, at: now) {
            readiness.tried(client.name)
        }
    }

    mutating func planReadiness() {
        guard !readiness.isReady, !jobs.isStopping, !index.names.isEmpty, readiness.areAllTried else { return }
        readiness.beReady()
        events.append(.ready)
    }

    /// - Parameter files: caches for each file whether it was tried.
    private func wasTried(_ client: Subject, _ files: inout [AbsolutePath: Bool], at now: Now) -> Bool {
        // An unsettled client has more to come: one failed output must not count for the others.
        guard records.isSettled(client.name) else { return false }
        guard wantedSecret(client) != nil else { return hasFailure(client.name) }
        for path in client.files {
            let wasTried = files[path] ?? wasTried(path, at: now)
            files[path] = wasTried
            if !wasTried { return false }
        }
        return true
    }

    private func wasTried(_ path: AbsolutePath, at now: Now) -> Bool {
        isGood(path) || jobs.attempts[.file(path)] != nil || jobs.isOverdue(.file(path)) || isDeleted(path)
            || isLeftAlone(path, at: now)
    }

    private func hasFailure(_ client: ClientName) -> Bool {
        // A source that was read and offers nothing is tried.
        clock.failure != nil || index.subjects[client]?.entry.source != nil
            || resources(of: client).contains { !$0.isProbe && (jobs.attempts[$0] != nil || jobs.isOverdue($0)) }
    }
}
