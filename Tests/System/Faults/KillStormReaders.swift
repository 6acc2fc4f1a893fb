import Foundation
import Synchronization
import TestSupport

/// Applications that read their secrets over and over.
final class KillStormReaders: Sendable {
    struct Findings {
        var reads = 0
        var bad: [String] = []
        /// By client.
        var tokens: [String: Set<String>] = [:]
    }

    /// Whether a file may be missing; every change makes another generation.
    private struct Expectation: Equatable {
        var generation = 0
        var mayMiss = true
    }

    private let found = Mutex(Findings())
    private let expectation = Mutex(Expectation())
    /// What each file held when it was read last.
    private let known = Mutex<[String: Data]>([:])
    private let isEnding = Mutex(false)
    private let done = DispatchGroup()
    private let clients: [String]
    private let directory: String

    init(_ field: KillStormFixture) {
        clients = field.clients
        directory = field.sandbox.directory("out")
    }

    func begin() {
        let looks: [@Sendable () -> Void] = [lookAtRaw, lookAtEnvironments, lookAtDocuments]
        for look in looks {
            done.enter()
            Thread.detachNewThread { [self] in
                while !isEnding.withLock({ $0 }) {
                    look()
                    usleep(500)
                }
                done.leave()
            }
        }
    }

    func end() {
        isEnding.withLock { $0 = true }
        done.wait()
    }

    func findings() -> Findings { found.withLock { $0 } }

    /// From now on, before `body` removes any, files may be missing.
    func mayMiss(_ body: () throws -> Void) throws {
        expect(mayMiss: true)
        try body()
    }

    /// From now on, after `body` has found all of them, none may be missing.
    func mustFind(_ body: () throws -> Void) throws {
        try body()
        expect(mayMiss: false)
    }

    private func expect(mayMiss: Bool) {
        expectation.withLock {
            guard $0.mayMiss != mayMiss else { return }
            $0.generation += 1
            $0.mayMiss = mayMiss
        }
    }

    private func lookAtRaw() {
        for client in clients {
            if let text = text(client + ".jwt") { judge(text, of: client, in: client + ".jwt") }
        }
    }

    private func lookAtEnvironments() {
        for (file, members) in KillStormFixture.environments {
            guard let text = text(file) else { continue }
            let lines = text.components(separatedBy: "\n")
            let values = lines.dropFirst(KillStormFixture.before.count).dropLast(KillStormFixture.after.count)
            let names = members.map { KillStormFixture.variable($0) + "=" }
            guard Array(lines.prefix(KillStormFixture.before.count)) == KillStormFixture.before,
                Array(lines.suffix(KillStormFixture.after.count)) == KillStormFixture.after,
                values.count == names.count,
                zip(values, names).allSatisfy({ $0.hasPrefix($1) })
            else {
                note("\(file) held \(text.utf8.count) bytes that are not whole")
                continue
            }
            for (index, (value, name)) in zip(members, zip(values, names)) {
                let token = value.dropFirst(name.count)
                if !token.isEmpty { judge(String(token), of: clients[index], in: file) }
            }
        }
    }

    private func lookAtDocuments() {
        for client in clients[KillStormFixture.documents] {
            guard let text = text(client + ".json") else { continue }
            let document = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))
            judge(document?["client_secret"] ?? "", of: client, in: client + ".json")
        }
    }

    /// What a file holds; nil when that is nothing new.
    private func text(_ name: String) -> String? {
        let before = expectation.withLock { $0 }
        let data = FileManager.default.contents(atPath: directory + "/" + name)
        found.withLock { $0.reads += 1 }
        if data == nil, !before.mayMiss, expectation.withLock({ $0 }) == before { note("\(name) was not there") }
        guard let data, known.withLock({ $0.updateValue(data, forKey: name) }) != data else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// Whole as to its form; whose the tokens are and who signed them is verified in the end.
    private func judge(_ token: String, of client: String, in file: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        let isWhole =
            parts.count == 3 && parts[0].hasPrefix("eyJ") && parts[1].hasPrefix("eyJ") && parts[2].utf8.count == 86
        if isWhole {
            found.withLock { _ = $0.tokens[client, default: []].insert(token) }
        } else {
            note("\(file) held \(token.utf8.count) bytes that are no secret")
        }
    }

    private func note(_ bad: String) {
        found.withLock { $0.bad.append(bad) }
    }
}
