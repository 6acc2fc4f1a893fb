internal import AppleClientSecret
internal import Model

/// The environment of the programs that actions run: `PATH`, `LANG` and the clients concerned, without the daemon's variables.
enum HookEnvironment {
    /// `PATH` of every program: Debian's directories, no others.
    static let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    /// In bytes, of the names and paths that one run is passed: Linux takes at least 131,072 for all arguments and the
    /// environment (execve(2)).
    static let longestPortion = 100_000

    /// A client and the facts about it that an action gets.
    typealias Client = (key: ClientName, value: CoveredClient)

    /// The clients of each run, in the order of their names. State-change actions cover none, and run once.
    static func portions(of covering: [ClientName: CoveredClient]) -> [[Client]] {
        var portions: [[Client]] = [[]]
        var length = 0
        for client in covering.sorted(by: { $0.key < $1.key }) {
            let texts = [client.key.description, client.value.issued.client.description]
            let own = (texts + client.value.outputs.map(\.description)).reduce(0) { $0 + $1.utf8.count + 1 }
            if length + own > longestPortion, portions.last?.isEmpty == false {
                portions.append([])
                length = 0
            }
            portions[portions.count - 1].append(client)
            length += own
        }
        return portions
    }

    /// The variables of one run.
    static func variables(for clients: [Client]) -> [String: String] {
        var variables = ["PATH": searchPath, "LANG": "C.UTF-8"]
        guard !clients.isEmpty else { return variables }
        func lines(_ values: [String]) -> String { values.joined(separator: "\n") }
        variables["CLIENTSECRETD_CLIENT"] = lines(clients.map(\.key.description))
        variables["CLIENTSECRETD_CLIENT_ID"] = lines(clients.map { $0.value.issued.client.identifier ?? "" })
        variables["CLIENTSECRETD_OUTPUTS"] = lines(clients.flatMap { $0.value.outputs.map(\.description) })
        return variables
    }
}
