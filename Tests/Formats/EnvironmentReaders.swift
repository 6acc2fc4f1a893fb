import Foundation
import TestSupport

/// The real programs that read environment files. Each reads all files of a directory at once.
enum RealReader: String, CaseIterable, Sendable {
    case dash
    case bash
    case node
    case dotenv
    case systemd
    case docker

    /// Lets the program read every `*.env` in `directory`.
    func readAll(in directory: TemporaryDirectory) throws {
        let scripts = repository + "/Tests/Support/Readers/"
        let path = directory.path
        let arguments =
            switch self {
            case .dash, .bash: [scripts + "shell-reader.sh", path, rawValue]
            case .node: [python, scripts + "node-reader.py", path]
            case .dotenv: [python, scripts + "dotenv-reader.py", path]
            case .systemd:
                [
                    repository + "/Tests/System/bed/run.sh", "-t", "600", "-b", "\(path):\(path)",
                    scripts + "systemd-reader.sh",
                    path,
                ]
            case .docker: [python, scripts + "docker-reader.py", path, Self.dockerClient]
            }
        try runToSuccess(arguments)
    }

    /// What it found in a file; nil when it could not read it.
    func variables(of file: String, in directory: TemporaryDirectory) -> [String: [UInt8]]? {
        guard let data = FileManager.default.contents(atPath: directory("\(file).env.\(rawValue)")) else { return nil }
        var found: [String: [UInt8]] = [:]
        for variable in data.split(separator: 0) {
            guard let equals = variable.firstIndex(of: 61) else { continue }
            found[String(decoding: variable[..<equals], as: UTF8.self)] = Array(variable[(equals + 1)...])
        }
        // What the service manager says to each service, another to each.
        for name in ["INVOCATION_ID", "SYSTEMD_EXEC_PID", "JOURNAL_STREAM"] { found[name] = nil }
        // And bash by itself.
        for name in ["_", "PWD", "OLDPWD", "SHLVL"] { found[name] = nil }
        return found
    }

    var isShell: Bool { self == .dash || self == .bash }

    /// The client that `make test-deps` unpacks, else the machine's own.
    private static var dockerClient: String {
        let unpacked = repository + "/.build/docker/usr/bin/docker"
        return FileManager.default.isExecutableFile(atPath: unpacked) ? unpacked : "docker"
    }
}
