import Model
import Store

/// Checks that nothing is written over a key, the configuration or another file that decides about the daemon.
struct OverwriteChecks {
    private let places: ConfigurationPaths
    private let main: TopLevelSettings
    private let outputs: [ClientOutput]
    /// The private keys' files and those of their passphrases.
    private let keys: [AbsolutePath: String]
    private let programs: [AbsolutePath]
    /// The use of each path in the configuration, in words for messages.
    private let reserved: [AbsolutePath: String]
    private let stateDirectory: AbsolutePath?
    private let diagnostics: Diagnostics

    private static let metrics = "the metrics_file"

    init(
        _ configuration: WrittenConfiguration, outputs: [ClientOutput], places: ConfigurationPaths,
        _ diagnostics: Diagnostics
    ) {
        self.places = places
        self.outputs = outputs
        self.diagnostics = diagnostics
        main = configuration.main
        programs = configuration.actions.flatMap { $0.value ?? [] }.compactMap { action in
            action.flatMap { ExecActionSettings.program(of: $0.value) }
        }
        stateDirectory =
            main.stateDirectory.value ?? places.stateDirectory ?? AbsolutePath(Configuration.defaultStateDirectory)
        var reserved: [AbsolutePath: String] = [:]
        func reserve(_ path: AbsolutePath?, _ what: String) {
            if let path, reserved[path] == nil { reserved[path] = what }
        }
        for key in configuration.keys {
            for (path, what) in KeySettings.files(
                of: key.name.value, key.location.value, passphrase: key.passphrase.value)
            {
                reserve(path, what)
            }
        }
        keys = reserved
        for client in configuration.clients {
            reserve(client.source.value?.path, "the source of client \"\(client.name.value)\"")
        }
        for target in main.targets {
            reserve(target.tokenFile?.value, "the token of target \"\(target.name.value)\"")
            reserve(target.caFile?.value, "the \"ca_file\" of target \"\(target.name.value)\"")
        }
        for (file, path) in main.storeFiles { reserve(path.value, "the \"\(file.rawValue)\" of the store") }
        for file in places.files { reserved[file] = "the configuration" }
        for path in programs { reserve(path, "a program that the daemon runs") }
        reserve(main.metricsFile.value, Self.metrics)
        self.reserved = reserved
    }

    func run() {
        if let file = main.metricsFile.located {
            check(file, against: reserved.filter { $0.value != Self.metrics })
        }
        for output in outputs { check(output.path, against: reserved) }
        // The network program, which never sees a key, reads these.
        let files = main.targets.flatMap(\.files).map { $0.file } + main.storeFiles.values
        for file in files {
            guard let what = keys[file.value] else { continue }
            diagnostics.error(at: file.position, "\(file.value) is \(what); write another path")
        }
        checkTrusted()
    }

    private func check(_ path: Located<AbsolutePath>, against reserved: [AbsolutePath: String]) {
        let advice = "write another path"
        if let what = reserved[path.value] {
            diagnostics.error(at: path.position, "\(path.value) is \(what); \(advice)")
        } else if path.value == places.directory || path.value.isBelow(places.directory) {
            diagnostics.error(at: path.position, "\(path.value) is in the configuration's directory; \(advice)")
        } else if let state = stateDirectory, path.value == state {
            diagnostics.error(at: path.position, "\(state) is the state directory; \(advice)")
        } else if let state = stateDirectory, path.value.isBelow(state) {
            diagnostics.error(at: path.position, "\(path.value) is in the state directory \(state); \(advice)")
        }
    }

    /// Others may write to a trusted directory: nothing in it may decide about the daemon.
    private func checkTrusted() {
        var deciding = places.files.map { ($0, "the configuration") }
        deciding.append((places.directory, "the directory of the configuration"))
        deciding += programs.map { ($0, "a program that the daemon runs") }
        if let state = stateDirectory { deciding.append((state, "the state directory")) }
        for case let trusted? in main.trustedDirectories.value ?? [] {
            if trusted.value.description == "/" {
                diagnostics.error(
                    at: trusted.position, "\"/\" is the root directory; write the directory that is mounted")
            } else if let (path, what) = deciding.first(where: {
                $0.0 == trusted.value || $0.0.isBelow(trusted.value)
            }) {
                diagnostics.error(
                    at: trusted.position,
                    "it contains \(path), \(what), which other users must not change; write a directory without it")
            }
        }
    }
}
