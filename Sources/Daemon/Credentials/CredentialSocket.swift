import Failures
import Linux
import Model
import Rotation
import SystemPackage
import Systemd

/// The credential socket and its server. Systemd passes the socket, or the daemon creates one as soon as a client is configured
/// to be served from it.
final class CredentialSocket: Sendable {
    private enum State {
        case none
        case listening(ListeningSocket)
        /// The socket that systemd passed cannot be used. Creating another one would hide that.
        case unusable(Failure)
    }

    let server: CredentialServer
    private let path: String
    private let state: QuietMutex<State>
    /// The units that are served.
    private let units = QuietMutex<Set<String>>([])

    /// `FileDescriptorName=` of the socket's unit.
    private static let passedName = "credentials"
    /// For the next process, systemd stores a connection that waits or reads a refusal under this name. It cannot be confused
    /// with the name above.
    static let heldName = "waiting-for-secret"
    private static let fileName = "credentials.sock"
    /// Only the owner may connect. systemd connects as root, which may do so in any case.
    private static let mode: UInt32 = 0o600

    /// - Parameter statusSocket: the daemon's own socket is created in the directory of this path.
    init(_ server: CredentialServer, from sockets: inout PassedSockets, beside statusSocket: String) {
        self.server = server
        path = LocalService.path(Self.fileName, nextTo: statusSocket)
        while let held = sockets.takeHeld(Self.heldName) { server.inherit(held) }
        let state = Self.takeOver(from: &sockets, server, path)
        self.state = QuietMutex(state)
    }

    private static func takeOver(
        from sockets: inout PassedSockets, _ server: CredentialServer, _ path: String
    ) -> State {
        do throws(Failure) {
            let passed = try sockets.take(passedName, at: path, failing: .credentialSocketUnusable)
            guard let passed else { return .none }
            do throws(SystemError) { try server.start(passed) } catch {
                throw Failure.notStarted(.credentialSocketUnusable, at: .named(path), cause: error.number)
            }
            return .listening(passed)
        } catch {
            return .unusable(error)
        }
    }

    /// Refuses every waiting connection when the daemon does not start: systemd starts it again and again while there
    /// are connections in its socket's queue.
    static func refuseWaiting(at sockets: inout PassedSockets) {
        while let held = sockets.takeHeld(heldName) { CredentialConnection(held, deadline: Deadline(in: 0)).refuse() }
        guard let passed = try? sockets.take(passedName), passed.kind.family == .unix else { return }
        while let waiting = try? passed.accept() {
            CredentialConnection(waiting, deadline: Deadline(in: 0)).refuse()
        }
    }

    /// Serves the credentials of `configuration`; returns a daemon fault raised or cleared. Any thread.
    func adopt(_ configuration: Configuration) -> Input {
        server.adopt(configuration)
        let served = Set(configuration.clients.values.compactMap(\.credential?.unit))
        let isWanted = !served.isEmpty
        units.withLock { $0 = served }
        return state.withLock { state in
            switch state {
            case _ where !isWanted, .listening: return .faultCleared(.credentialSocketUnusable)
            case .unusable(let failure): return .faultRaised(failure)
            case .none:
                do throws(SystemError) {
                    let listener = try ListeningSocket(path: path, mode: Self.mode)
                    do throws(SystemError) {
                        try server.start(listener)
                    } catch {
                        listener.removeName()
                        throw error
                    }
                    state = .listening(listener)
                    return .faultCleared(.credentialSocketUnusable)
                } catch {
                    return .faultRaised(Self.failure(at: path, error.errno))
                }
            }
        }
    }

    /// Why a unit that is served could not load its credential now, so that its start would fail: the socket cannot be used, or
    /// its file is gone. Nil for another unit. Any thread.
    func problem(loadingBy unit: String) -> Failure? {
        let names = Set([unit, UnitTemplate.name(of: unit)].compactMap(\.self))
        guard !units.withLock({ $0.isDisjoint(with: names) }) else { return nil }
        switch state.withLock({ $0 }) {
        case .unusable(let failure): return failure
        case .none: return Self.failure(at: path, .noSuchFileOrDirectory)
        case .listening(let listener):
            // systemd may listen elsewhere than next to the status socket.
            guard let place = listener.path, FileStatus.isAbsent(place) else { return nil }
            return Self.failure(at: place, .noSuchFileOrDirectory)
        }
    }

    /// The code's own remedy has systemd listen again, which is right in each state of the unit while the daemon runs. So only
    /// its mask is looked for, and a start does not wait for systemd.
    private static func failure(at path: String, _ errno: Errno) -> Failure {
        Failure(
            .credentialSocketUnusable, at: .named(path), cause: errno.rawValue,
            remedy: SocketUnit.mask(of: PackageUnit.credentialSocket))
    }

    /// Refuses the connections that wait, and removes the name of the daemon's own socket.
    ///
    /// - Parameter moment: when unread refusals are dropped; nil: after the time that they have otherwise.
    func close(by moment: BootTime?) {
        server.stop(by: moment)
        if case .listening(let listener) = state.withLock({ $0 }) { listener.removeName() }
    }
}
