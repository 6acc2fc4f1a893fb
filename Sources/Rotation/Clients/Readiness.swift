import Model

/// The daemon is ready once every client was tried, and stays ready.
extension Rotation {
    var areAllTried: Bool { clients.all.allSatisfy(\.wasTried) }

    /// Marks those of these clients that were tried by now.
    mutating func noteTried(_ clients: [ConfiguredClient], at now: Now) {
        // An unsettled client has more to come: one failed output must not count for the others.
        let untried = clients.filter { !self.clients[$0].wasTried && isSettled($0) }
        // Each file once: many clients may share one.
        let served = Set(untried.flatMap(\.files)).filter { isServedOrFailed($0, at: now) }
        for client in untried
        where wantedSecret(client) == nil ? hasFailure(client) : served.isSuperset(of: client.files) {
            self.clients[client].wasTried = true
        }
    }

    mutating func planReadiness() {
        guard !isReady, !jobs.isStopping, !index.all.isEmpty, areAllTried else { return }
        isReady = true
        events.append(.ready)
    }

    private func isServedOrFailed(_ path: AbsolutePath, at now: Now) -> Bool {
        isGood(path) || jobs.failsOrIsOverdue(.file(path)) || lostLines(path) != nil || isLeftAlone(path, at: now)
    }

    private func hasFailure(_ client: ConfiguredClient) -> Bool {
        // A source that was read and offers nothing is tried.
        clock.failure != nil || client.entry.source != nil
            || resources(of: client).contains { !$0.isProbe && jobs.failsOrIsOverdue($0) }
    }
}
