import Foundation
import Glibc
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
    private let isEnding = Mutex(false)
    private let done = DispatchGroup()
    private let clients: [String]
    private let directory: String

    init(_ field: KillStormFixture) {
        clients = field.clients
        directory = field.sandbox.directory("out")
    }

    func begin() {
        let looks: [(files: [String], judge: @Sendable (_ text: String, _ index: Int) -> Void)] = [
            (clients.map { $0 + ".jwt" }, judgeRaw), (KillStormFixture.environments.keys.sorted(), judgeEnvironment),
            (clients[KillStormFixture.documents].map { $0 + ".json" }, judgeDocument),
        ]
        for (names, judge) in looks {
            done.enter()
            Thread.detachNewThread { [self] in
                var files = names.map { ReadFile(name: $0, path: directory + "/" + $0) }
                while !isEnding.withLock({ $0 }) {
                    for index in files.indices {
                        if let text = text(&files[index]) { judge(text, index) }
                    }
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

    private func judgeRaw(_ text: String, at index: Int) {
        judge(text, of: clients[index], in: clients[index] + ".jwt")
    }

    private func judgeEnvironment(_ text: String, at index: Int) {
        let file = KillStormFixture.environments.keys.sorted()[index]
        let members = KillStormFixture.environments[file, default: 0..<0]
        let lines = text.components(separatedBy: "\n")
        let values = lines.dropFirst(KillStormFixture.before.count).dropLast(KillStormFixture.after.count)
        let names = members.map { KillStormFixture.variable($0) + "=" }
        guard Array(lines.prefix(KillStormFixture.before.count)) == KillStormFixture.before,
            Array(lines.suffix(KillStormFixture.after.count)) == KillStormFixture.after,
            values.count == names.count,
            zip(values, names).allSatisfy({ $0.hasPrefix($1) })
        else { return note("\(file) held \(text.utf8.count) bytes that are not whole") }
        for (index, (value, name)) in zip(members, zip(values, names)) {
            let token = value.dropFirst(name.count)
            if !token.isEmpty { judge(String(token), of: clients[index], in: file) }
        }
    }

    private func judgeDocument(_ text: String, at index: Int) {
        let client = clients[KillStormFixture.documents][KillStormFixture.documents.lowerBound + index]
        let document = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        judge(document?["client_secret"] ?? "", of: client, in: client + ".json")
    }

    /// What a file holds; nil when that is nothing new.
    private func text(_ file: inout ReadFile) -> String? {
        let before = expectation.withLock { $0 }
        let isThere = file.read()
        found.withLock { $0.reads += 1 }
        if !isThere, !before.mayMiss, expectation.withLock({ $0 }) == before { note("\(file.name) was not there") }
        return isThere ? file.newText() : nil
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

/// A file that is read over and over, by system calls alone: three threads that do it by way of Foundation keep a processor
/// busy, which the daemon then lacks.
private struct ReadFile {
    let name: String
    let path: String
    private var content: [UInt8]
    private var count = 0
    private var known: [UInt8]?

    init(name: String, path: String) {
        self.name = name
        self.path = path
        content = [UInt8](repeating: 0, count: 1 << 16)
    }

    /// Reads it whole; false when it is not there.
    mutating func read() -> Bool {
        let descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0 else { return false }
        // A regular file that is no longer than this comes whole.
        count = max(0, unsafe Glibc.read(descriptor, &content, content.count))
        close(descriptor)
        return true
    }

    /// What was read, unless it is what was read before.
    mutating func newText() -> String? {
        if let known, known.count == count, unsafe memcmp(known, content, count) == 0 { return nil }
        known = Array(content[..<count])
        return String(decoding: content[..<count], as: UTF8.self)
    }
}
