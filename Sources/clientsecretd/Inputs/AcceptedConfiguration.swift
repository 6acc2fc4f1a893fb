import AppleClientSecret
import Config
import Daemon
import Model

/// The configuration of commands that use its secrets or keys.
struct AcceptedConfiguration {
    let source: ConfigurationSource
    let loaded: LoadedConfiguration

    init(_ option: ConfigurationOption) throws(CommandFailure) {
        let path = option.path()
        source = ConfigurationSource.ofService(path)
        loaded = try accepted(source.load())
    }

    /// The client of this name, whose users sign in with Apple; throws if there is none, or it is of another kind.
    @discardableResult
    func signInClient(_ name: ClientName) throws(CommandFailure) -> ClientConfiguration {
        let client = try client(name)
        let kind = client.clientID.kind
        guard kind == .signIn else {
            throw CommandFailure(
                .usage, "client \"\(name)\" is of kind \(kind), which is not for signing in; name one of kind sign_in")
        }
        return client
    }

    /// The client of this name; throws if there is none.
    ///
    /// - Parameter isPerhapsFile: whether the name may have been meant as a file, which does not exist.
    @discardableResult
    func client(_ name: ClientName, isPerhapsFile: Bool = false) throws(CommandFailure) -> ClientConfiguration {
        let known = loaded.configuration.clients
        if let client = known[name] { return client }
        let kind = isPerhapsFile ? "file and no client" : "client"
        throw .unknown(kind, name.description, among: known.keys.map(\.description), in: source.path)
    }
}

/// The configuration; one that is refused has its errors printed on standard error, and its exit code thrown.
func accepted(_ result: Result<LoadedConfiguration, ConfigurationError>) throws(CommandFailure) -> LoadedConfiguration {
    switch result {
    case .success(let loaded): return loaded
    case .failure(let error):
        for diagnostic in error.diagnostics { CommandOutput.complain(lines: diagnostic.description) }
        throw CommandFailure(CommandExitStatus(error), "")
    }
}
