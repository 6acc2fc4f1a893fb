import Config
import Failures
import Keys
import Linux
import Model
import Outputs
import State

extension Executor {
    func checkConfiguration() -> Outcome {
        switch settings.load() {
        case .success(let loaded):
            noteLinkChain(of: .configuration, loaded.files)
            return .passes
        case .failure(let error):
            return error.outcome
        }
    }

    func readConfiguration() -> Outcome {
        switch settings.load() {
        case .success(let loaded):
            takeMounts()
            for diagnostic in loaded.warnings { log.note(.configurationWarning(diagnostic)) }
            adopt(loaded)
            followState(of: loaded.configuration)
            keepText(loaded)
            onAdoption(loaded)
            return .configuration(loaded.configuration)
        case .failure(let error):
            return error.outcome
        }
    }

    /// Without a thread, the next job that uses it finds the former one.
    private func followState(of configuration: Configuration) {
        let path = settings.stateDirectory(of: configuration)
        try? pool.run(in: .state) { [state] in state.follow(path) }
    }

    /// Keeps the text for a start whose own is refused. Asynchronous, in the lane of the daemon's own disk.
    func keepText(_ loaded: LoadedConfiguration) {
        textToKeep.put(loaded)
        try? pool.run(in: .state) { [self] in keepLastText() }
    }

    /// Waits until the text that was adopted last is kept: a reload is answered before, and may be followed by a stop.
    func finishKeepingText(within milliseconds: Int64) {
        guard let done = try? EventCounter() else { return }
        try? pool.run(in: .state) { [self] in
            keepLastText()
            done.signal()
        }
        _ = done.wait(atMost: milliseconds)
    }

    private func keepLastText() {
        textToKeep.take { loaded in
            do throws(FileError) {
                try settings.keepAdopted(loaded)
            } catch {
                let failure = Failure(error, at: AbsolutePath(error.path) ?? loaded.directory)
                log.note(.configurationNotKept(failure))
            }
        }
    }

    /// Registers the files that the configuration reads and writes, before any of its jobs runs.
    func adopt(_ loaded: LoadedConfiguration) {
        noteLinkChain(of: .configuration, loaded.files)
        services.store.follow(loaded.store)
        tokens.withLock { $0 = loaded.tokenCredentials }
        let configuration = loaded.configuration
        keyring.keepOnly(configuration.keys)
        services.pusher.keepOnly(configuration)
        let place = settings.stateDirectory(of: configuration).flatMap { path in
            // If it does not answer, its path is used unchanged.
            state.isSilent ? path.description : try? GuardedPath.directory(path.description, as: identity)
        }
        reservedPaths.set(
            inputs: configuration.inputs.union(loaded.files),
            outputs: configuration.outputPaths.union([configuration.metricsFile].compactMap { $0 }), state: place,
            trusted: configuration.trustedDirectories)
    }

    func readKey(_ name: KeyName, _ entry: KeyConfiguration) throws(Failure) -> Outcome {
        if case .publicKey(let spki) = entry.location {
            guard let key = PublicKey(spki: spki) else { throw Failure(.publicKeyUnusable, at: .key(name)) }
            keyring.remember(spki: spki)
            keyring.remove(name)
            return .key(key.print)
        }
        let files = [entry.location, entry.passphrase].compactMap { location -> AbsolutePath? in
            if case .file(let path)? = location { path } else { nil }
        }
        for path in files { reservedPaths.note(path) }
        noteLinkChain(of: .key(name), files)
        do throws(Failure) {
            let key = try KeyLoader(as: reservedPaths.trusting(identity), credentials: settings.credentials).load(entry)
            if let failure = keyring.objection(to: key.print, of: entry) { throw failure }
            keyring.put(key, as: name)
            return .key(key.print)
        } catch {
            keyring.remove(name)
            throw Self.explained(error, of: entry)
        }
    }

    /// A passphrase that was replaced may not have been passed yet.
    private static func explained(_ failure: Failure, of entry: KeyConfiguration) -> Failure {
        guard failure.code == .keyWrongPassphrase, !entry.credentials.isEmpty else { return failure }
        return failure.with(
            .say(
                "try the passphrase by hand; if it or the key was replaced, restart the service, because systemd passes "
                    + "credentials only at a start", see: .restart()))
    }

    /// Reports to the watcher the links to these files, and where they end.
    func noteLinkChain(of resource: Resource, _ paths: [AbsolutePath]) {
        guard let findings else { return }
        let places = paths.flatMap { LinkChain.places(of: $0.description) }.compactMap { AbsolutePath($0) }
        findings.post(.linkChain(Set(places), of: resource))
    }
}

extension ConfigurationError {
    /// A text that is not known was not refused: a reload reports the disk instead.
    fileprivate var outcome: Outcome {
        let lines = errorsFirst.map(\.description)
        return unread == nil ? .refused(lines) : .unread(lines)
    }
}
