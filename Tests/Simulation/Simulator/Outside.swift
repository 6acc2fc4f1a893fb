import AppleClientSecret
package import Model
import Rotation
import TestSupport

/// Everything around the daemon: the disk, the keys, the state directory and the applications.
package final class Outside {
    package struct File: Hashable {
        package var slots: [FileSlot: SlotObservation] = [:]
        /// Which version of another program's lines it holds; zero: none.
        package var foreign = 0
        /// Slots that another program has written.
        var damaged: Set<FileSlot> = []
        package var isAsConfigured = true
    }

    /// An application, which reads a client's secret whenever an action is run.
    struct Reader: Hashable {
        let client: ClientName
        let action: ActionID
    }

    package private(set) var configuration: Configuration
    /// The configured clients in the order of their names, because every step goes over them.
    private(set) var clients: [(key: ClientName, value: ClientConfiguration)] = []
    package var files: [AbsolutePath: File] = [:]
    var records: [ClientName: Record] = [:]
    /// What the state directory holds of what operators were notified of.
    var told = ReportedStates()
    package internal(set) var prints: [KeyName: KeyDigest] = [:]
    package var broken = Broken()
    package var apple = Apple()
    var api = Api()
    /// How many requests have not reached their API, or whose answers were lost.
    var unanswered = 0
    /// What each application last read at its API.
    var fetched: [Reader: SlotObservation] = [:]
    /// What the file holds from which secrets are received; nil: there is none.
    var offer: Offer?
    let sabotage: Sabotage?

    /// The version of its lines that another program last wrote into each file.
    var foreign: [AbsolutePath: Int] = [:]
    /// Files with another program's lines that somebody has removed.
    var away: Set<AbsolutePath> = []
    /// Those of them that the state directory knows to have held other lines.
    var deleted: Set<AbsolutePath> = []
    /// Every id that a client ever had.
    private var ids: [ClientName: Set<ClientID>] = [:]

    /// What each application holds in its memory.
    var held: [Reader: SecretInfo] = [:]
    /// Applications that read their files in a run not reported as done: the daemon cannot know what they hold.
    var unheard: Set<Reader> = []
    /// Secrets whose bytes the living daemon knows, and keys that it has read.
    var secretCache: Set<Fingerprint> = []
    var known: Set<KeyDigest> = []
    /// Every secret that was ever minted.
    var minted: [Fingerprint: SecretInfo] = [:]
    /// How to undo effects that were not reported yet.
    var unreported: [JobID: Undo] = [:]

    package internal(set) var mints = 0
    package internal(set) var runs = 0
    /// How often an action of `on_state_change` was run, successfully or not.
    package internal(set) var pages = 0
    /// How often each fault has occurred, by its words.
    private(set) var met: [String: Int] = [:]
    var violation: Violation?
    var firstPrints: [KeyName: KeyDigest] = [:]
    var written: [AbsolutePath: FileObservation] = [:]

    enum Undo {
        case file(AbsolutePath, File?)
        case record(ClientName, Record?)
    }

    init(_ configuration: Configuration, sabotage: Sabotage? = nil) {
        self.configuration = configuration
        self.sabotage = sabotage
        for name in configuration.keys.keys.sorted() { swapKey(name, number: 1) }
        configure(configuration)
    }

    func meet(_ fault: Fault) { met["\(fault)", default: 0] += 1 }

    /// - Parameter what: its size, or the moment of a death.
    func meet(_ fault: Fault, _ what: some Any) { met["\(fault) \(what)", default: 0] += 1 }

    func configure(_ configuration: Configuration) {
        self.configuration = configuration
        clients = configuration.clients.sorted { $0.key < $1.key }
        for (name, entry) in clients { ids[name, default: []].insert(entry.clientID) }
    }

    package func swapKey(_ name: KeyName, number: Int) {
        let digits = String(number, radix: 16)
        prints[name] = KeyDigest(String(repeating: "0", count: 64 - digits.count) + digits)
    }

    /// Forgets what only the dead daemon knew.
    func forget() {
        secretCache = []
        known = []
        unreported = [:]
        api.restsUntil = [:]
        forgetUnrecordedPushes()
    }

    /// Undoes unreported writes, each by chance, and has every application read its files as it starts.
    func cutPower(_ random: inout SeededGenerator) {
        for job in unreported.keys.sorted() where random.next() % 2 == 0 {
            meet(.writeLost)
            switch unreported[job] {
            case .file(let path, let file): files[path] = file
            case .record(let client, let record): records[client] = record
            case nil: break
            }
        }
        for (name, entry) in configuration.clients {
            for action in entry.onChange where !action.isRedeployment {
                reread(Reader(client: name, action: action.id))
            }
        }
    }

    /// The daemon has received a job's result.
    func report(_ job: JobID) {
        unreported[job] = nil
    }

    /// The daemon has received the success of an action.
    func reportRun(_ reader: Reader) {
        unheard.remove(reader)
    }

    // MARK: Promises

    /// Where no other program has written, files and places behind APIs hold only whole secrets of the right clients.
    func check() throws {
        if let violation { throw violation }
        for (path, version) in foreign where files[path]?.foreign != version {
            throw Violation(.outputs, "\(path) has lost what another program wrote into it")
        }
        for path in deleted where files[path] != nil {
            throw Violation(.outputs, "\(path) was made anew with half of its lines")
        }
        for (name, entry) in clients {
            for output in entry.targets {
                guard let place = api.places[output.place], !place.isDamaged, let held = place.held else { continue }
                try check(held, in: output.target, of: name)
            }
            for output in entry.outputs {
                guard let file = files[output.path], let held = file.slots[output.slot],
                    !file.damaged.contains(output.slot)
                else { continue }
                try check(held, in: output.path, of: name)
            }
        }
    }

    private func check(_ held: SlotObservation, in place: some CustomStringConvertible, of name: ClientName) throws {
        guard let issued = held.secret, minted[issued.fingerprint] == issued else {
            throw Violation(.outputs, "\(place) holds no whole secret")
        }
        guard ids[name]?.contains(issued.client) == true else {
            throw Violation(.outputs, "\(place) holds a secret of \(issued.client), not of \(name)")
        }
    }
}

extension SlotObservation {
    var secret: SecretInfo? {
        if case .secret(let issued) = self { issued } else { nil }
    }
}
