import Formats
import Rotation

/// Checks that no output overwrites a key, the configuration or another output.
struct OutputChecks {
    let places: GuardedPlaces
    let keys: [KeyDraft]
    let clients: [ClientDraft]
    let main: FileDraft
    let complaints: Diagnostics

    /// An output and its client.
    private struct Claim {
        let client: ClientName
        let output: OutputDraft
        let path: Placed<AbsolutePath>
    }

    func run() {
        let reserved = reservedPaths()
        let claims = clients.flatMap { client in
            (client.settings.outputs.value ?? []).compactMap { output -> Claim? in
                guard let output, let path = output.path.placed else { return nil }
                return Claim(client: client.name.value, output: output, path: path)
            }
        }
        var directories: [AbsolutePath: AbsolutePath] = [:]
        for path in Array(reserved.keys).sorted() + claims.map(\.path.value) {
            for directory in path.directories where directories[directory] == nil { directories[directory] = path }
        }
        if let file = main.metricsFile.placed {
            check(file, against: reserved.filter { $0.value != Self.metrics }, directories)
        }
        for claim in claims {
            check(claim.path, against: reserved, directories)
            warnOfOthers(claim)
        }
        checkShared(claims)
        checkState(reserved)
        checkTrusted()
    }

    private static let metrics = "the metrics_file"

    /// What the configuration uses each path for, in words for messages.
    private func reservedPaths() -> [AbsolutePath: String] {
        var reserved: [AbsolutePath: String] = [:]
        for key in keys {
            if case .file(let path) = key.location.value { reserved[path] = "the private key of \"\(key.name.value)\"" }
            if case .file(let path) = key.passphrase.value, reserved[path] == nil {
                reserved[path] = "the passphrase of key \"\(key.name.value)\""
            }
        }
        for file in places.files { reserved[file] = "the configuration" }
        for path in programs where reserved[path] == nil { reserved[path] = "a program that is run" }
        if let file = main.metricsFile.value, reserved[file] == nil { reserved[file] = Self.metrics }
        return reserved
    }

    private var programs: [AbsolutePath] {
        let actions = clients.flatMap { $0.settings.onChange.value ?? [] } + (main.onStateChange.value ?? [])
        return actions.compactMap { action in
            guard case .exec(let arguments, _) = action?.value else { return nil }
            return arguments.first.flatMap { AbsolutePath($0) }
        }
    }

    private var stateDirectory: AbsolutePath? {
        main.stateDirectory.value ?? places.stateDirectory ?? AbsolutePath(Configuration.defaultStateDirectory)
    }

    private func check(
        _ path: Placed<AbsolutePath>, against reserved: [AbsolutePath: String],
        _ directories: [AbsolutePath: AbsolutePath]
    ) {
        let advice = "write another path"
        if let what = reserved[path.value] {
            complaints.error(at: path.position, "\(path.value) is \(what); \(advice)")
        } else if path.value == places.directory || path.value.isBelow(places.directory) {
            complaints.error(at: path.position, "\(path.value) lies where the configuration is read from; \(advice)")
        } else if let state = stateDirectory, path.value == state {
            complaints.error(at: path.position, "\(state) is the state directory; \(advice)")
        } else if let state = stateDirectory, path.value.isBelow(state) {
            complaints.error(at: path.position, "\(path.value) lies in the state directory \(state); \(advice)")
        } else if let below = directories[path.value] {
            complaints.error(
                at: path.position, "\(path.value) is a directory above \(below); write the path of a file in it")
        }
    }

    private func warnOfOthers(_ claim: Claim) {
        guard let mode = claim.output.mode.placed, mode.value & 0o006 != 0 else { return }
        let may: String =
            switch mode.value & 0o006 {
            case 0o004: "read"
            case 0o002: "overwrite"
            default: "read and overwrite"
            }
        complaints.warning(
            at: mode.position,
            "mode \(Mode.text(mode.value)) lets every user \(may) the secret; write \(Mode.text(mode.value & 0o770)) and a group"
        )
    }

    private func checkShared(_ claims: [Claim]) {
        var first: [AbsolutePath: Claim] = [:]
        var variables: [AbsolutePath: [String: Claim]] = [:]
        for claim in claims {
            let path = claim.path.value
            if let other = first[path] {
                compare(claim, with: other)
            } else {
                first[path] = claim
            }
            guard case .variable(let variable) = claim.output.slot, claim.output.format.value != nil else { continue }
            if let other = variables[path, default: [:]][variable] {
                complaints.error(
                    at: claim.path.position,
                    "variable \(quoted(variable)) of \(path) is set for client \"\(other.client)\" already "
                        + "(\(other.path.position.seen(from: claim.path.position))); write another variable or another path"
                )
            } else {
                variables[path, default: [:]][variable] = claim
            }
        }
    }

    private func compare(_ claim: Claim, with other: Claim) {
        let path = claim.path
        let holder = "client \"\(other.client)\" (\(other.path.position.seen(from: path.position)))"
        if let format = claim.output.format.value, let otherFormat = other.output.format.value,
            !(format.isShared && format == otherFormat)
        {
            let shared = alternatives(Formats.all.filter { $0.isShared }.map { $0.name })
            complaints.error(
                at: path.position,
                "\(path.value) is an output of \(holder) already; write another path, or format \(shared) in both")
            return
        }
        func compare<Value: Equatable>(
            _ name: String, _ value: Setting<Value>, _ otherValue: Setting<Value>, _ text: (Value) -> String
        ) {
            if case .wrong = value { return }
            if case .wrong = otherValue { return }
            guard value.value != otherValue.value else { return }
            complaints.error(
                at: value.placed?.position ?? path.position,
                "\(path.value) has \(value.value.map { "\(name) \(text($0))" } ?? "no \(name)") here and "
                    + "\(otherValue.value.map { "\(name) \(text($0))" } ?? "no \(name)") in \(holder); write the same in both"
            )
        }
        compare("mode", claim.output.mode, other.output.mode, Mode.text)
        compare("group", claim.output.group, other.output.group) { $0 }
        compare("\"as\"", claim.output.owner, other.output.owner) { $0 }
    }

    /// Others may write to a trusted directory: nothing in it may decide what the daemon does.
    private func checkTrusted() {
        var deciding = places.files.map { ($0, "the configuration") }
        deciding.append((places.directory, "the directory of the configuration"))
        deciding += programs.map { ($0, "a program that is run") }
        if let state = stateDirectory { deciding.append((state, "the state directory")) }
        for case let trusted? in main.trustedDirectories.value ?? [] {
            if trusted.value.description == "/" {
                complaints.error(
                    at: trusted.position, "\"/\" is the root of all files; write the directory that is mounted")
            } else if let (path, what) = deciding.first(where: {
                $0.0 == trusted.value || $0.0.isBelow(trusted.value)
            }) {
                complaints.error(
                    at: trusted.position,
                    "\(path) is \(what), which others must not be able to change; write a directory without it")
            }
        }
    }

    private func checkState(_ reserved: [AbsolutePath: String]) {
        guard let directory = main.stateDirectory.placed else { return }
        if let what = reserved[directory.value] {
            complaints.error(at: directory.position, "\(directory.value) is \(what); write a directory of its own")
        } else if directory.value == places.directory {
            complaints.error(
                at: directory.position,
                "\(directory.value) is where the configuration is read from; write a directory of its own")
        } else if directory.value.description == "/" {
            complaints.error(at: directory.position, "\"/\" is the root of all files; write a directory of its own")
        }
    }
}
