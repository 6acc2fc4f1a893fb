import Foundation
import Linux
import Systemd
import TestSupport
import Testing

struct PassedSocketsTests {
    @Test func thereAreNoneWithoutSystemd() async {
        await #expect(processExitsWith: .success) {
            unsafe unsetenv("LISTEN_FDS")
            var sockets = try PassedSockets()
            #expect(sockets.names == [])
            #expect(take("status", from: &sockets) == "none")
        }
    }

    @Test func goesByNameAndNotByOrder() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let status = try ListeningSocket(path: directory("status"), mode: 0o600)
            let credentials = try ListeningSocket(path: directory("credentials"), mode: 0o600)
            let metrics = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #expect(listen(metrics, 1) == 0)
            let deaf = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let datagrams = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            let passed = [metrics, credentials.descriptor.raw, status.descriptor.raw, 0, deaf, datagrams, metrics]
            let names = "metrics:credentials:status:file:deaf:datagrams:unknown"
            let seen = try passing(passed, named: names) {
                var sockets = try PassedSockets()
                var seen = [sockets.names.joined(separator: ":")]
                seen += ["status", "credentials", "metrics", "status"].map { take($0, from: &sockets) }
                seen += ["file", "deaf", "datagrams"].map { take($0, from: &sockets) }
                seen += sockets.names
                _ = consume sockets
                seen.append("closed: \(fcntl(9, F_GETFD) == -1)")
                seen.append("told to children: \(unsafe getenv("LISTEN_FDS") != nil)")
                return seen
            }
            #expect(
                seen == [
                    names, "5 unix", "4 unix", "3 internet", "none",
                    "cannot listen on the socket file from systemd: Invalid argument",
                    "cannot listen on the socket deaf from systemd: Invalid argument",
                    "cannot listen on the socket datagrams from systemd: Invalid argument",
                    "unknown", "closed: true", "told to children: false",
                ])
        }
    }
}

/// The result of taking the socket: its number and family, in words.
private func take(_ name: String, from sockets: inout PassedSockets) -> String {
    do {
        guard let socket = try sockets.take(name) else { return "none" }
        let isInherited = fcntl(socket.raw, F_GETFD) & FD_CLOEXEC == 0
        return "\(socket.raw) \(socket.kind.family)" + (isInherited ? " inherited" : "")
    } catch {
        return error.description
    }
}

/// Returns what `body` sees in a process whose descriptors are where systemd puts them. The test's own process will not
/// do: libdispatch waits on descriptors with these numbers, and dies when they are replaced.
private func passing(_ descriptors: [Int32], named names: String, _ body: () throws -> [String]) throws -> [String] {
    let passed = descriptors.map { fcntl($0, F_DUPFD, 100) }
    let answer = Pipe()
    let child = fork()
    if child == 0 {
        alarm(60)
        for (descriptor, place) in zip(passed, Int32(3)...) { dup2(descriptor, place) }
        unsafe setenv("LISTEN_PID", String(getpid()), 1)
        unsafe setenv("LISTEN_FDS", String(descriptors.count), 1)
        unsafe setenv("LISTEN_FDNAMES", names, 1)
        let seen = (try? body()) ?? []
        answer.fileHandleForWriting.write(Data(seen.joined(separator: "\n").utf8))
        _exit(0)
    }
    try answer.fileHandleForWriting.close()
    let seen = String(decoding: answer.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    waitpid(child, nil, 0)
    return seen.components(separatedBy: "\n")
}
