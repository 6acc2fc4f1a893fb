import Failures
import Foundation
import TestSupport
import Testing

@testable import Store

/// The real program over connections that are kept.
@Suite(.waits) struct StoreClientTests {
    /// Otherwise the machine would hear of a renewal after up to ten minutes instead of a second.
    @Test func aWatchThatStaysIncompleteIsBegunAgain() throws {
        let directory = try TemporaryDirectory()
        let member = try Background([
            "/usr/bin/python3", repository + "/Tests/Support/etcd/member.py", directory.path, "short-watch",
        ])
        let configuration = try directory.write(
            """
            store:
              endpoints: ["\(member.firstLine)"]
              ca_file: \(directory("ca.pem"))

            """, to: "clientsecretd.yaml")
        let role = try EtcdBed.Role(configuration: configuration)
        let keys = [StoreKey.secret(EtcdBed.slot), .rollout(EtcdBed.slot)]
        #expect(try role.ask(.read(keys)) == .read([.missing, .missing]))
        #expect(try role.nextNotice() == .watching)
        #expect(try directory.read("log") == "2\n2\n")
    }

    /// A login costs a member its processor, and one that is not answered is perhaps still being computed: with the next member
    /// at once, and the one after that, ten thousand machines whose logins were lost would keep all of them from answering. A
    /// request over a connection that was there before has been sent, although no handshake belongs to it.
    @Test func aLoginThatIsNotAnsweredOverAKeptConnectionGoesToNoOtherMember() throws {
        let directory = try TemporaryDirectory()
        let members = try Background([
            "/usr/bin/python3", repository + "/Tests/Support/etcd/member.py", directory.path, "silent-login",
        ])
        let addresses = members.firstLine.split(separator: " ")
        try directory.write("password\n", to: "password")
        let configuration = try directory.write(
            """
            store:
              endpoints: [\(addresses.map { "\"\($0)\"" }.joined(separator: ", "))]
              ca_file: \(directory("ca.pem"))
              user: somebody
              password_file: \(directory("password"))

            """, to: "clientsecretd.yaml")
        let role = try EtcdBed.Role(configuration: configuration)
        #expect(try role.put(sampleToken(), ifAt: 0) == .put(revision: 5))
        let failure = try role.put(sampleToken("b"), ifAt: 5).failure
        #expect(failure?.code == .storeTimedOut)
        #expect(failure?.retryAfter != nil)
        let requests = try directory.read("log").split(separator: "\n").map { $0.split(separator: " ") }
        #expect(
            requests.map(\.[2]) == [
                "/v3/auth/authenticate", "/v3/kv/txn", "/v3/kv/txn", "/v3/auth/authenticate",
            ])
        #expect(Set(requests.map(\.[0])).count == 1, "another member was asked: \(requests)")
        #expect(Set(requests.map(\.[1])).count == 1, "the connection was not kept: \(requests)")
    }
}
