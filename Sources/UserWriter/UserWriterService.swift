internal import AppleClientSecret
internal import Config
internal import Failures
package import Linux
internal import Model
internal import Outputs
internal import SystemPackage

/// `clientsecretd write`: reads back and publishes the files of the user that it runs as, on behalf of the daemon.
///
/// It holds no key. The configuration is read again for each request, and parsed again if it has changed. Requests are served
/// one after another, so that no write begins while an earlier one may still take effect.
package final class UserWriterService {
    private let configuration: String
    private let daemonUser: String
    private let identity: Identity
    /// The configuration of the last request.
    private var last: LoadedConfiguration?
    /// The files of that configuration's outputs, as far as requests were about them.
    private let reservedPaths = ReservedPaths()

    /// - Parameters:
    ///   - configuration: the configuration's path; it must belong to root.
    ///   - daemonUser: the user that may ask like root: a name or number.
    ///   - identity: the user that writes.
    package init(configuration: String, daemonUser: String, identity: Identity) {
        self.configuration = configuration
        self.daemonUser = daemonUser
        self.identity = identity
    }

    /// Serves connections until a signal, or until none comes for 30 s. After `life` milliseconds it ends at the first pause: a
    /// process keeps the user, groups and mounts of its start, and systemd starts the next one with those that are valid then.
    package func serve(
        _ listener: borrowing ActivatedListener, for life: Int64 = UserWriterTimeouts.life
    ) throws(SystemError) {
        let end = Deadline(in: life)
        while let connection = try listener.next(
            within: end.hasPassed ? UserWriterTimeouts.pause : UserWriterTimeouts.idle)
        {
            serve(connection)
        }
    }

    /// Answers one request. A client that is not permitted learns only that.
    package func serve(_ connection: consuming Descriptor) {
        var stream = UnixStream(adopting: connection, milliseconds: UserWriterTimeouts.connection)
        let answer: WriterAnswer
        do throws(Failure) {
            try UserWriterCaller.require(daemonUser, on: stream, at: place)
            let request: WriterRequest
            do throws(SystemError) {
                request = try WriterMessage.read(WriterRequest.self, from: &stream)
            } catch {
                throw Failure(.writerRefused, at: place, detail: "the request is not understood (\(error.words))")
            }
            // A client that has closed the connection makes another request, perhaps a different one.
            if stream.isAbandoned { return }
            answer = try carryOut(request)
        } catch {
            answer = WriterAnswer(error)
        }
        send(answer, over: &stream)
    }

    func send(_ answer: WriterAnswer, over stream: inout UnixStream) {
        var line = WriterMessage.line(of: answer)
        if line.count > WriterMessage.longest {
            line = WriterMessage.line(of: WriterAnswer(Failure(.fileTooLarge, at: place)))
        }
        // The request's deadline has passed if the disk was slow. The file may be published then, and the daemon has to know.
        stream.deadline = Deadline(in: UserWriterTimeouts.connection)
        // Ignored: a client that has closed the connection makes another request.
        try? stream.write(line)
    }

    func carryOut(_ request: WriterRequest) throws(Failure) -> WriterAnswer {
        let loaded = try load()
        let order: UserWriterFileRules.Order
        do throws(UserWriterFileRules.Refusal) {
            order = try UserWriterFileRules(
                configuration: loaded.configuration, user: identity.user,
                userID: { try? Accounts.userID($0) }
            ).order(request)
        } catch {
            throw Failure(.writerRefused, at: place, detail: error.words)
        }
        // With a fresh tag nothing is written.
        let publisher = Publisher(
            as: identity, naming: order.naming ?? TemporaryNames(), reservedPaths: reservedPaths)
        let identity = reservedPaths.trusting(identity)
        switch request.task {
        case .observe:
            // The daemon names its tag once for each directory. Files with that tag were left by a writer that was killed, or are
            // locked by one that is writing.
            if let naming = order.naming { _ = try? naming.sweep(beside: order.file.path.description, as: identity) }
            return WriterAnswer(try publisher.observe(order.file))
        case .look: return WriterAnswer(try publisher.look(at: order.file), at: order.file.path)
        case .examine:
            return publisher.problem(with: order.file, mayCreate: request.mayCreate).map { WriterAnswer($0) }
                ?? WriterAnswer()
        case .publish:
            return WriterAnswer(
                try publisher.publish(
                    order.secrets, in: order.file, mayCreate: request.mayCreate, overWriters: request.overWriters))
        }
    }

    /// Root's configuration: the user that owns the files must not decide their content.
    private func load() throws(Failure) -> LoadedConfiguration {
        switch ConfigurationLoader.load(path: configuration, as: .root, after: last) {
        case .success(let loaded):
            reserve(loaded)
            return loaded
        case .failure(let error):
            // The daemon uses the text last adopted, of which root keeps a copy. Not used if this user may not
            // read the current text: the daemon may have adopted a newer one than the copy.
            if error.unread != .notPermitted,
                let adopted = LastGoodConfiguration.load(
                    path: configuration, in: LastGoodConfiguration.directory, as: .root)
            {
                reserve(adopted)
                return adopted
            }
            let first = (error.headline ?? error.diagnostics.first)?.message
            let isClosed =
                error.unread == nil
                && LastGoodConfiguration.isClosed(configuration, in: LastGoodConfiguration.directory, as: .root)
            let copy = "this user may not read the copy of the last good one, and the current one is refused"
            throw Failure(
                .writerUnconfigured, at: place,
                detail: isClosed ? [copy, first].compactMap(\.self).joined(separator: ": ") : first)
        }
    }

    private func reserve(_ loaded: LoadedConfiguration) {
        // Nothing tells this process that a key was replaced, or something mounted.
        reservedPaths.forgetInputs()
        reservedPaths.set(mounts: .ofThisProcess())
        guard loaded.sources != last?.sources else { return }
        last = loaded
        let configuration = loaded.configuration
        let state = configuration.stateDirectory?.description ?? Configuration.defaultStateDirectory
        reservedPaths.set(
            inputs: configuration.inputs.union(loaded.files),
            outputs: configuration.outputPaths.union([configuration.metricsFile].compactMap { $0 }),
            state: (try? GuardedPath.directory(state, as: identity)) ?? state,
            trusted: configuration.trustedDirectories)
    }

    /// The daemon knows which file it asked about.
    private var place: Failure.Place { .named(configuration) }
}
