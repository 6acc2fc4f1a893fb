import Config
import Linux
import Model
import Rotation
import UserWriter

/// The daemon's clients of this machine's services, whose sockets are next to the status socket.
struct ServiceClients: Sendable {
    let writers: UserWriterClient
    let verifier: VerifierClient
    let pusher: Pusher
    let store: StoreServiceClient

    /// - Parameters:
    ///   - status: the daemon's status socket.
    ///   - isOnce: whether Apple and targets can be asked without a socket: by a program that is started for the request.
    ///   - cancel: ends every request when raised.
    ///   - post: receives the store's notices that come while a request is open.
    init(
        of settings: ConfigurationSource, besideSocket status: String, isOnce: Bool = false,
        cancel: EventCounter? = nil, post: @escaping @Sendable (Input) -> Void = { _ in }
    ) throws(SystemError) {
        let configuration = ConfigurationLoader.absolutePath(of: settings.path)?.description ?? settings.path
        let identity = settings.identity
        let program =
            isOnce && NetworkProgramFile.mayHaveNetwork
            ? NetworkProgramFile.path() ?? NetworkProgramFile.installed : nil
        writers = UserWriterClient(
            besideSocket: status, configuration: configuration, identity: identity, cancel: cancel)
        verifier = VerifierClient(besideSocket: status, program: program, identity: identity, cancel: cancel)
        pusher = Pusher(
            besideSocket: status, configuration: configuration, program: program, identity: identity, cancel: cancel)
        store = try StoreServiceClient(besideSocket: status, identity: identity, cancel: cancel, post: post)
    }
}
