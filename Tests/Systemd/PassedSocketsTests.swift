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
            try expectNone(&sockets, "status")
        }
    }

    @Test func goesByNameAndNotByOrder() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let status = try UnixListener(path: directory("status"), mode: 0o600)
            let credentials = try UnixListener(path: directory("credentials"), mode: 0o600)
            let metrics = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #expect(listen(metrics, 1) == 0)
            let deaf = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            try passing(
                [metrics, credentials.descriptor.raw, status.descriptor.raw, 0, deaf, credentials.descriptor.raw],
                named: "metrics:credentials:status:file:deaf:unknown"
            ) {
                var sockets = try PassedSockets()
                #expect(unsafe getenv("LISTEN_FDS") == nil)
                #expect(sockets.names == ["metrics", "credentials", "status", "file", "deaf", "unknown"])

                try expect(&sockets, "status", at: 5, .unix)
                try expect(&sockets, "credentials", at: 4, .unix)
                try expect(&sockets, "metrics", at: 3, .internet)
                try expectRefused(&sockets, "file")
                try expectRefused(&sockets, "deaf")
                try expectNone(&sockets, "status")
                #expect(sockets.names == ["unknown"])
                _ = consume sockets
                // Closed with what held it.
                #expect(fcntl(8, F_GETFD) == -1)
            }
        }
    }
}

private func expect(
    _ sockets: inout PassedSockets, _ name: String, at number: Int32, _ family: PassedSocket.Family
) throws {
    guard let socket = try sockets.take(name) else { throw POSIXError(.ENOENT) }
    #expect(socket.raw == number)
    #expect(socket.family == family)
    #expect(fcntl(socket.raw, F_GETFD) & FD_CLOEXEC != 0)
}

private func expectNone(_ sockets: inout PassedSockets, _ name: String) throws {
    if try sockets.take(name) != nil { Issue.record("there was a socket \(name)") }
}

private func expectRefused(_ sockets: inout PassedSockets, _ name: String) throws {
    do {
        _ = try sockets.take(name)
        Issue.record("\(name) was taken")
    } catch {
        #expect(error.description == "cannot listen on the socket \(name) from systemd: Invalid argument")
    }
}

/// Puts the descriptors where systemd puts them, and what was there back afterwards.
private func passing(_ descriptors: [Int32], named names: String, _ body: () throws -> Void) throws {
    let places = (0..<Int32(descriptors.count)).map { 3 + $0 }
    let passed = descriptors.map { fcntl($0, F_DUPFD, 100) }
    let before = places.map { fcntl($0, F_DUPFD, 100) }
    for (descriptor, place) in zip(passed, places) { dup2(descriptor, place) }
    unsafe setenv("LISTEN_PID", String(getpid()), 1)
    unsafe setenv("LISTEN_FDS", String(descriptors.count), 1)
    unsafe setenv("LISTEN_FDNAMES", names, 1)
    defer { for (descriptor, place) in zip(before, places) where descriptor >= 0 { dup2(descriptor, place) } }
    try body()
}
