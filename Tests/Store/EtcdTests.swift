import AppleClientSecret
import Failures
import Foundation
import TestSupport
import Testing

@testable import Store

/// The real program against three real members of etcd, with mutual TLS and etcd's own users.
@Suite(.waits, .serialized, .needs(.venv, .servers, .tools)) struct EtcdTests {
    private func code(_ result: StoreResult) -> FailureCode? { result.failure?.code }

    private func revision(_ result: StoreResult) throws -> Int64 {
        guard case .put(let revision) = result else { throw TestFailure("not put: \(result)") }
        return revision
    }

    @Test func aSecretIsPutAndReadAndComparedWith() throws {
        let bed = try EtcdBed()
        let signer = try bed.role()
        let follower = try bed.role("follower")
        #expect(try follower.read(EtcdBed.slot) == .read([.missing]))
        let first = try revision(signer.put(sampleToken(), ifAt: 0))
        #expect(try follower.read(EtcdBed.slot) == .read([held(sampleToken(), first)]))
        // What somebody else has seen, or has not seen, decides.
        #expect(try signer.put(sampleToken("b"), ifAt: 0) == .conflict([held(sampleToken(), first)]))
        let second = try revision(signer.put(sampleToken("b"), ifAt: first))
        #expect(second > first)
        #expect(try signer.put(sampleToken("b"), ifAt: first) == .put(revision: second))
        // Nothing but its own part of the store.
        #expect(
            try follower.read(EtcdBed.foreign, EtcdBed.slot)
                == .read([.forbidden, held(sampleToken("b"), second)]))
        #expect(code(try follower.put(sampleToken("c"), ifAt: second)) == .storeForbidden)
        #expect(try follower.read(EtcdBed.slot) == .read([held(sampleToken("b"), second)]))
    }

    private static let place = StoreKey.rollout(EtcdBed.slot)

    private func rollout(_ text: String, ifAt revision: Int64) -> StoreRequest.Put {
        StoreRequest.Put(Array(text.utf8), at: Self.place, ifAt: revision)
    }

    private func at(_ revision: Int64, _ text: String) -> StoreEntry { .value(Array(text.utf8), revision: revision) }

    @Test func aRolloutIsPutWithItsSecretAndThenRaised() throws {
        let bed = try EtcdBed()
        let signer = try bed.role()
        let follower = try bed.role("follower")
        let both = [StoreKey.secret(EtcdBed.slot), Self.place]
        let first = try revision(
            signer.ask(.put([rollout("5", ifAt: 0), secret(sampleToken(), ifAt: 0, EtcdBed.slot)])))
        // Both are of one transaction.
        #expect(try follower.ask(.read(both)) == .read([held(sampleToken(), first), at(first, "5")]))
        // Whoever has seen neither puts neither, and is told of both.
        #expect(
            try signer.ask(.put([rollout("9", ifAt: first), secret(sampleToken("b"), ifAt: 0, EtcdBed.slot)]))
                == .conflict([at(first, "5"), held(sampleToken(), first)]))
        // An answer that was lost.
        #expect(
            try signer.ask(.put([rollout("5", ifAt: 0), secret(sampleToken(), ifAt: 0, EtcdBed.slot)]))
                == .put(revision: first))
        #expect(try follower.nextNotice() == .watching)
        let second = try revision(signer.ask(.put([rollout("9", ifAt: first)])))
        #expect(try follower.nextNotice() == .changed)
        #expect(try signer.ask(.put([rollout("8", ifAt: first)])) == .conflict([at(second, "9")]))
        #expect(try follower.ask(.read(both)) == .read([held(sampleToken(), first), at(second, "9")]))
        #expect(code(try follower.ask(.put([rollout("10", ifAt: second)]))) == .storeForbidden)
    }

    private func report(_ text: String, _ machine: String, ifAt revision: Int64) -> StoreRequest {
        .put([StoreRequest.Put(Array(text.utf8), at: .report(of: machine), ifAt: revision)])
    }

    @Test func reportsArePutListedAndRemoved() throws {
        let bed = try EtcdBed()
        let signer = try bed.role()
        let follower = try bed.role("follower")
        let key = StoreKey.report(of: "app17")
        #expect(try signer.ask(.list(.report, from: nil)) == .list([], next: nil))
        let first = try revision(follower.ask(report("one", "app17", ifAt: 0)))
        #expect(try follower.ask(report("two", "app17", ifAt: 0)) == .conflict([at(first, "one")]))
        #expect(try follower.ask(report("one", "app17", ifAt: 0)) == .put(revision: first))
        let second = try revision(follower.ask(report("two", "app17", ifAt: first)))
        #expect(try follower.ask(report("x", "app1", ifAt: 9)) == .conflict([.missing]))
        // Nobody reports for others, or reads what they say; and reads its secrets all the same.
        #expect(code(try follower.ask(report("x", "signer", ifAt: 0))) == .storeForbidden)
        #expect(code(try follower.ask(.list(.report, from: nil))) == .storeForbidden)
        #expect(code(try follower.ask(.remove(.report(of: "signer"), ifAt: 1))) == .storeForbidden)
        #expect(try follower.read(EtcdBed.slot) == .read([.missing]))
        let listed = StoreResult.list([.init(key: key, entry: at(second, "two"))], next: nil)
        #expect(try signer.ask(.list(.report, from: nil)) == listed)
        #expect(try signer.ask(.remove(key, ifAt: first)) == .removed)
        #expect(try signer.ask(.list(.report, from: nil)) == listed)
        #expect(try signer.ask(.remove(key, ifAt: second)) == .removed)
        #expect(try signer.ask(.list(.report, from: nil)) == .list([], next: nil))
    }

    /// More than a page of them, and between them whatever somebody else could put there.
    @Test func reportsAreListedInPages() throws {
        let bed = try EtcdBed()
        let signer = try bed.role()
        for number in 0..<300 { _ = try revision(signer.ask(report("\(number)", "app\(1000 + number)", ifAt: 0))) }
        let folder = "/clientsecretd/v1/host/"
        for (name, length) in [("app1100x", 20_000), ("app1200x", 1_200_000), ("app1201x", 1_200_000)] {
            try bed.put(bed.directory.write(String(repeating: "x", count: length), to: "long"), at: folder + name)
        }
        try bed.order("ctl put \(folder)a/b nobody")
        try bed.order("ctl put /clientsecretd/v1/hosts nobody")
        var found: [StoreResult.Listed] = []
        var next: [UInt8]?
        var pages = 0
        repeat {
            guard case .list(let page, let rest) = try signer.ask(.list(.report, from: next)) else {
                Issue.record("they were not listed")
                return
            }
            pages += 1
            found += page
            next = rest
        } while next != nil
        #expect(found.count == 303)
        #expect(pages < 50, "what follows a long one is read one by one")
        let long = found.filter { if case .tooLong = $0.entry { true } else { false } }
        #expect(long.map(\.key.machine) == ["app1100x", "app1200x", "app1201x"])
        guard case .value(Array("299".utf8), _)? = found.first(where: { $0.key.machine == "app1299" })?.entry else {
            Issue.record("the last one is another")
            return
        }
        // What is too long to be read is replaced like anything else.
        guard case .conflict(let entries) = try signer.ask(report("short", "app1200x", ifAt: 0)),
            case .tooLong(let last)? = entries.first
        else {
            Issue.record("it was not found")
            return
        }
        _ = try revision(signer.ask(report("short", "app1200x", ifAt: last)))
    }

    @Test func aRefusalNamesItsReason() throws {
        let bed = try EtcdBed()
        #expect(code(try bed.role(password: "another").read(EtcdBed.slot)) == .storeCredentialsRefused)
        #expect(code(try bed.role(nil).read(EtcdBed.slot)) == .storeUserMissing)
        #expect(try bed.role("nobody").read(EtcdBed.slot) == .read([.forbidden]))
        #expect(code(try bed.role(certificate: "named").read(EtcdBed.slot)) == .storeCertificateRefused)
        #expect(code(try bed.role(certificate: "expired").read(EtcdBed.slot)) == .storeCertificateRefused)
        let answer = try bed.role(certificate: "stranger").read(EtcdBed.slot)
        #expect(code(answer) == .storeCertificateRefused, "\(answer)")
        #expect(code(try bed.role(certificate: "ca", ca: "other-ca").read(EtcdBed.slot)) == .storeServerUntrusted)
        try bed.directory.write("no key", to: "stranger.key")
        #expect(code(try bed.role(certificate: "stranger").read(EtcdBed.slot)) == .storeFileUnusable)
        try FileManager.default.removeItem(atPath: bed.directory("stranger.pem"))
        #expect(code(try bed.role(certificate: "stranger").read(EtcdBed.slot)) == .storeFileUnusable)
        // What is taken away while it is asked.
        let follower = try bed.role("follower")
        #expect(try follower.read(EtcdBed.slot) == .read([.missing]))
        try bed.order("ctl user revoke-role follower follower")
        #expect(try follower.read(EtcdBed.slot) == .read([.forbidden]))
        try bed.order("ctl user delete follower")
        #expect(code(try follower.read(EtcdBed.slot)) == .storeCredentialsRefused)
    }

    /// A role whose connection is to this member.
    private func role(of bed: EtcdBed, connectedTo member: Int) throws -> EtcdBed.Role {
        while true {
            // Which member it asks is chosen by lot.
            let role = try bed.role()
            _ = try role.read(EtcdBed.slot)
            #expect(try role.nextNotice() == .watching)
            if try role.isConnected(to: bed.endpoints[member]) { return role }
        }
    }

    /// The leader has proposed the put to the others, which are stopped, and is killed before they have it: they find the
    /// proposal when they go on, one of them leads, and the put is done although nobody was ever answered.
    @Test func aPutDuringWhichTheLeaderIsKilledIsDoneOnce() throws {
        let bed = try EtcdBed()
        let first = try revision(bed.role().put(sampleToken(), ifAt: 0))
        var leader = try bed.leader()
        var signer = try role(of: bed, connectedTo: leader)
        while true {
            let others = (0..<3).filter { $0 != leader }
            for member in others { try bed.order("pause \(member)") }
            try signer.begin(.put([secret(sampleToken("b"), ifAt: first, EtcdBed.slot)]))
            while try !bed.hasProposed(leader), !signer.hasSpoken {}
            let isUnderWay = !signer.hasSpoken
            if isUnderWay { try bed.order("kill \(leader)") }
            for member in others { try bed.order("resume \(member)") }
            if isUnderWay { break }
            // A leader that has not heard of the others for half a second proposes nothing: on a machine that is slow, again.
            _ = try signer.answer()
            leader = try bed.leader()
            signer = try role(of: bed, connectedTo: leader)
        }
        // What was not answered is asked again with the revision that was seen before.
        var result = try signer.answer()
        while case .failed = result { result = try signer.put(sampleToken("b"), ifAt: first) }
        let second = try revision(result)
        try bed.order("start \(leader)")
        #expect(try signer.readOnceServed(EtcdBed.slot) == .read([held(sampleToken("b"), second)]))
        #expect(try bed.puts() == 2)
    }

    @Test func withoutAQuorumNothingIsReadOrPut() throws {
        let bed = try EtcdBed()
        let first = try revision(bed.role().put(sampleToken(), ifAt: 0))
        let rest = try bed.leader()
        let signer = try role(of: bed, connectedTo: rest)
        for member in 0..<3 where member != rest { try bed.order("pause \(member)") }
        // The watch ends, which etcd sees to where it is asked to: otherwise a read that is due in ten minutes would be the
        // first to notice.
        let deadline = ContinuousClock.now + .seconds(60)
        while !signer.hasSpoken, .now < deadline { usleep(50_000) }
        try #require(signer.hasSpoken, "the watch is silent")
        #expect(try signer.nextNotice() == .unwatched)
        let failed = try signer.read(EtcdBed.slot)
        #expect([.storeTimedOut, .storeUnavailable, .storeUnreachable].contains(code(failed)), "\(failed)")
        for member in 0..<3 where member != rest { try bed.order("resume \(member)") }
        #expect(try signer.readOnceServed(EtcdBed.slot) == .read([held(sampleToken(), first)]))
    }

    /// A watch that runs has seen what is compacted, and goes on.
    @Test func compactedHistoryIsNoneOfItsConcern() throws {
        let bed = try EtcdBed()
        let signer = try bed.role()
        let follower = try bed.role("follower")
        #expect(try follower.read(EtcdBed.slot) == .read([.missing]))
        #expect(try follower.nextNotice() == .watching)
        var last: Int64 = 0
        for number in 0..<5 {
            last = try revision(signer.put(sampleToken("\(number)"), ifAt: last))
            #expect(try follower.nextNotice() == .changed)
        }
        try bed.order("ctl compact \(last)")
        #expect(try follower.read(EtcdBed.slot) == .read([held(sampleToken("4"), last)]))
        #expect(try signer.read(EtcdBed.slot) == .read([held(sampleToken("4"), last)]))
        _ = try revision(signer.put(sampleToken("5"), ifAt: last))
        #expect(try follower.nextNotice() == .changed)
    }

    /// What is changed and compacted between a read and the beginning of the watch after it: etcd cancels the watch and
    /// leaves the connection open. The role ends that, and watches again after its next read.
    @Test func aWatchFromACompactedRevisionEndsAndBeginsAgainWithTheNextRead() throws {
        let bed = try EtcdBed()
        let port = try #require(bed.endpoints[0].split(separator: ":").last)
        let gate = try Background(["/usr/bin/python3", repository + "/Tests/Support/etcd/gate.py", String(port)])
        func next() throws -> String { String(decoding: try gate.nextLine(), as: UTF8.self) }
        let follower = try bed.role("follower", at: ["https://127.0.0.1:\(gate.firstLine)"])
        #expect(try follower.read(EtcdBed.slot) == .read([.missing]))
        // Its watch is the second connection.
        #expect(try next() == "held")
        let signer = try bed.role()
        let first = try revision(signer.put(sampleToken(), ifAt: 0))
        let second = try revision(signer.put(sampleToken("b"), ifAt: first))
        try bed.order("ctl compact \(second)")
        try gate.write("go")
        try #require(try next() == "closed", "the watch goes on")
        // Whoever was told that it watches is told that it does so no more: without that the next read is a minute away.
        #expect(try follower.read(EtcdBed.slot) == .read([held(sampleToken("b"), second)]))
        // The watch may have begun before it was cancelled.
        if let first = follower.notices.first, first == .watching, follower.notices.dropFirst().first == .unwatched {
            for _ in 0..<2 { _ = try follower.nextNotice() }
        }
        #expect(try follower.nextNotice() == .watching)
        _ = try revision(signer.put(sampleToken("c"), ifAt: second))
        #expect(try follower.nextNotice() == .changed)
        try expectCancellation(
            of: .watch([StoreKey.secret(EtcdBed.slot).bytes(below: "/clientsecretd")], from: first), bed)
    }

    /// That etcd says of such a watch what ``EtcdWatchResponse`` takes for its end.
    private func expectCancellation(of request: EtcdRequest, _ bed: EtcdBed) throws {
        let login = try bed.ask(0, "/v3/auth/authenticate", ["--data", #"{"name":"signer","password":"signer"}"#])
        let token = try #require(login.output.firstMatch(of: /"token":"([^"]+)"/)).1
        // The stream stays open, so who reads it is ended after the line that is waited for.
        let program = #"exec 3< <(exec "$@"); grep --max-count=1 compact_revision <&3; kill -KILL $!"#
        let finished = try run([
            "bash", "-c", program, "bash", "curl", "--silent", "--no-buffer", "--cacert", bed.directory("ca.pem"),
            "--cert",
            bed.directory("client.pem"), "--key", bed.directory("client.key"), "--header", "Authorization: \(token)",
            "--data", String(decoding: request.body, as: UTF8.self), bed.endpoints[0] + request.path,
        ])
        #expect(finished.output.contains(#""canceled":true"#), "\(finished.output)")
        var stream = EtcdWatchResponse(keys: 1)
        #expect(stream.receive(line: Array(finished.output.utf8)) == .ended)
    }

    @Test func aFullStoreCanBeRead() throws {
        let bed = try EtcdBed()
        let signer = try bed.role()
        let first = try revision(signer.put(sampleToken(), ifAt: 0))
        let file = try bed.directory.write(String(repeating: "x", count: 1_000_000), to: "filling")
        var isFull = false
        for number in 0..<40 where !isFull {
            do { try bed.put(file, at: "/filling/\(number)") } catch { isFull = "\(error)".contains("space exceeded") }
        }
        try #require(isFull)
        #expect(code(try signer.put(sampleToken("b"), ifAt: first)) == .storeOutOfSpace)
        #expect(try signer.read(EtcdBed.slot) == .read([held(sampleToken(), first)]))
    }
}

extension EtcdBed {
    /// Puts a file's content.
    func put(_ file: String, at key: String) throws { try order("put \(key) \(file)") }
}
