import AppleClientSecret
import Foundation
import Linux
import Model
import StatusAPI
import TestSupport
import Testing

/// What others than root get. The tests become other users with setpriv, which root may.
@Suite(.needs(.root)) struct ControlPermissionTests {
    private static let control = ControlPermission(
        daemonUser: 4321, group: Group(name: "clientsecretd-control", id: 4242))
    private static let reload = "POST /v1/reload HTTP/1.1\r\nHost: h\r\n\r\n"
    private static let health = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"

    /// A refusal to take control, as it arrives on a connection that is kept.
    private func forbidden(_ detail: String) -> String {
        Texts.problem(403, "Forbidden", detail).replacing("connection: close\r\n", with: "")
    }

    @Test func otherUsersMayReadAndNoMore() throws {
        let harness = try Harness(control: Self.control, show: try Samples.snapshot(.ok))
        let answers = try harness.received(
            [Self.reload, Self.health, Self.reload.replacing("reload", with: "clients/web/renew")], user: 1234)
        let detail =
            #"only root, the daemon's own user (4321) and members of the group "clientsecretd-control" may do this, and "#
            + #"you are user 1234; use sudo, or become a member of "clientsecretd-control""#
        try #require(answers.count == 3)
        expectSame(answers[0], forbidden(detail))
        #expect(answers[1].hasPrefix("HTTP/1.1 200 OK\r\n"))
        expectSame(answers[2], forbidden(detail))
        #expect(harness.rotation.asked.isEmpty)
    }

    @Test func withoutAGroup() throws {
        let harness = try Harness(show: try Samples.snapshot(.ok))
        let answers = try harness.received([Self.reload], user: 1234, group: 4242, groups: "4242,0")
        expectSame(
            answers.joined(),
            forbidden(
                "only root, the daemon's own user (4321) may do this, and you are user 1234; use sudo, or name a "
                    + "control_group in the configuration"))
    }

    /// Whoever has no number in this user namespace comes as this one: it may be anybody.
    @Test func theOverflowUserIsUnknown() throws {
        let nobody = ControlPermission(daemonUser: 65_534, group: Group(name: "nogroup", id: 65_534))
        let harness = try Harness(control: nobody, show: try Samples.snapshot(.ok))
        expectSame(
            try harness.received([Self.reload], user: 65_534, group: 65_534).joined(),
            forbidden(
                #"only root, the daemon's own user (65534) and members of the group "nogroup" may do this, and "#
                    + #"your user is not known (65534); use sudo, or become a member of "nogroup""#))
        #expect(try harness.received([Self.reload], user: 1234, group: 65_534).joined().hasPrefix("HTTP/1.1 403 "))
        #expect(harness.rotation.asked.isEmpty)
    }

    @Test func theDaemonsUserAndMembersOfTheGroupMayReload() throws {
        let harness = try Harness(
            limits: { $0.requestPause = 0 }, control: Self.control, show: try Samples.snapshot(.ok),
            answer: { _ in .reloaded(unserved: []) })
        // The daemon's own user; a member by the primary group; one by a supplementary group among many.
        let many = ((5000..<5100).map(String.init) + ["4242"]).joined(separator: ",")
        for (user, group, groups) in [(4321, 9999, nil), (1234, 4242, nil), (1234, 9999, many)] {
            let answer = try harness.received([Self.reload], user: user, group: group, groups: groups).joined()
            expectSame(
                answer,
                Texts.reloaded(connection: nil))
        }
        #expect(harness.rotation.asked.count == 3)
        // A reload may take the group away.
        harness.server.permit(ControlPermission(daemonUser: 4321))
        #expect(try harness.received([Self.reload], user: 1234, group: 4242).joined().hasPrefix("HTTP/1.1 403 "))
    }

    private func expectTooSoon(_ answer: String, _ what: String) throws {
        let wait = try #require(answer.firstMatch(of: /retry-after: (\d+)\r\n/)?.output.1)
        #expect(try (1...10).contains(#require(Int(wait))))
        expectSame(
            answer,
            Texts.problem(
                429, "Too Many Requests",
                "\(what) was asked for a moment ago; try again in \(wait) s (root need not wait)",
                extra: "retry-after: \(wait)\r\n"
            ).replacing("connection: close\r\n", with: ""))
    }

    /// An order that was not given just now is not held up by another one: to hold a rollout is an emergency.
    @Test(arguments: [
        (
            ["clients/web/renew", "clients/web/renew", "clients/api/renew", "renew"], [200, 429, 200, 429],
            #"client "web""#
        ),
        (["reload", "reload"], [200, 429], "a reload"),
        (
            ["clients/web/rollout/resume", "clients/web/rollout/resume", "clients/web/rollout/hold"], [404, 429, 404],
            #""resume" for client "web""#
        ),
    ])
    func onlyRootAsksAgainAtOnce(addresses: [String], statuses: [Int], what: String) throws {
        let harness = try Harness(control: Self.control, show: try Samples.snapshot(.ok)) { request in
            switch request {
            case .renew: .renewed([])
            case .reload: .reloaded(unserved: [])
            case .rollout, .fleet: .noRollout(nil)
            }
        }
        let requests = addresses.map { "POST /v1/\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }
        let answers = try harness.received(requests, user: 4321)
        #expect(answers.map { String($0.prefix(13)) } == statuses.map { "HTTP/1.1 \($0) " })
        try expectTooSoon(answers[1], what)
        // Members of the group, and hooks, which run as the daemon's own user, share the limit.
        let member = try harness.received([requests[0]], user: 1234, group: 4242).joined()
        #expect(member.hasPrefix("HTTP/1.1 429 "))
        for _ in 0..<3 {
            #expect(try harness.ask("POST", "/v1/\(addresses[0])").hasPrefix("HTTP/1.1 \(statuses[0]) "))
        }
        #expect(harness.rotation.asked.count == statuses.count(where: { $0 != 429 }) + 3)
    }

    /// The rotation is asked once, and root's own reload has it read what has changed since.
    @Test func aReloadJoinsTheOneThatGoesOn() throws {
        let harness = try Harness(control: Self.control, show: try Samples.snapshot(.ok))
        let first = try harness.asking(Self.reload)
        let joining = try harness.sent(Self.reload, user: 4321)
        // The server takes what has arrived in order: once this one is answered, it has the member's request.
        let second = try harness.connect()
        try second.send(Self.health)
        #expect(try second.read(upTo: "ok\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
        harness.rotation.answer(0, .reloaded(unserved: []))
        #expect(try first.read(upTo: "}\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(String(decoding: try joining.nextLine(), as: UTF8.self).contains("HTTP/1.1 200 OK"))
        try second.send(Self.reload)
        #expect(eventually { harness.rotation.asked == [.reload, .reload] })
        harness.rotation.answer(1, .reloaded(unserved: []))
    }

    @Test func noUserTakesAllConnections() throws {
        let harness = try Harness(control: Self.control, show: try Samples.snapshot(.ok))
        let turnedAway = Texts.problem(
            503, "Service Unavailable", "user 1234 has 8 connections open, the limit for one user; close one",
            extra: "retry-after: 1\r\n")
        let answers = try harness.received(Array(repeating: Self.health, count: 10), user: 1234)
        #expect(answers.prefix(8).allSatisfy { $0.hasPrefix("HTTP/1.1 200 OK\r\n") })
        #expect(answers.suffix(2) == [turnedAway, turnedAway])
        let connections = try (0..<20).map { _ in try harness.connect() }
        for connection in connections {
            try connection.send(Self.health)
            #expect(try connection.read(upTo: "\n").hasPrefix("HTTP/1.1 200 OK\r\n"), "root is held to no number")
        }
        for connection in connections { connection.endSending() }
        // Once they are closed there is room again.
        #expect(try eventually { try harness.openConnections() == 0 })
        #expect(try harness.received([Self.health], user: 1234).joined().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func someConnectionsAreKeptForRootAndTheGroup() throws {
        let harness = try Harness(
            limits: { ($0.connections, $0.keptConnections) = (6, 2) }, control: Self.control,
            show: try Samples.snapshot(.ok))
        func open() throws -> (Connection, String) {
            let connection = try harness.connect()
            try? connection.send(Self.health)
            return (connection, try connection.read(upTo: "\n"))
        }
        let held = try (0..<4).map { _ in try open() }
        #expect(held.allSatisfy { $0.1.hasPrefix("HTTP/1.1 200 OK\r\n") })
        expectSame(
            try harness.received([Self.health], user: 1234).joined(),
            Texts.problem(
                503, "Service Unavailable", "all 4 connections are taken; try again", extra: "retry-after: 1\r\n"))
        #expect(try harness.received([Self.health, Self.health], user: 4321).joined().hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(try eventually { try harness.openConnections() == 4 })
        let more = try (0..<2).map { _ in try open() }
        #expect(more.allSatisfy { $0.1.hasPrefix("HTTP/1.1 200 OK\r\n") })
        let refused = try harness.connect()
        expectSame(
            try refused.readToEnd(),
            Texts.problem(
                503, "Service Unavailable", "all 6 connections are taken; try again", extra: "retry-after: 1\r\n"))
        withExtendedLifetime((held, more)) {}
    }
}
