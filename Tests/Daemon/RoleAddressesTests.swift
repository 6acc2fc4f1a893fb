import Failures
import Linux
import Model
import Rotation
import TestSupport
import Testing

@testable import Daemon

/// Which addresses of this machine the helpers' units are opened for.
@Suite struct RoleAddressesTests {
    private func files(
        _ targets: [String: String] = [:], store: [String] = [], verifier: String? = nil, resolvers: String = "",
        hosts: String = ""
    ) throws -> [String: String] {
        var endpoints = [PackageUnit.store: store, PackageUnit.verifier: [verifier].compactMap(\.self)]
        for (target, address) in targets {
            let name = try #require(TargetName(target))
            endpoints[PackageUnit.pusher(of: name)] = [address]
        }
        return RoleAddresses(endpoints: endpoints, resolvers: resolvers, hosts: hosts).files(in: "/run")
    }

    @Test func onlyWhatIsConfiguredOnThisMachineIsOpened() throws {
        let far = ["https://api.supabase.com", "https://127.0.0.1.example.com", "https://10.0.0.1:8200"]
        for address in far { #expect(try files(["a": address], store: [address], verifier: address) == [:]) }
        let lines = "[Service]\nIPAddressAllow=127.0.0.0/8 ::1/128\n"
        for address in ["https://127.0.0.1:8200/v1", "http://localhost", "https://[::1]:2379"] {
            #expect(
                try files(["a": address, "b": far[0]])
                    == ["/run/clientsecretd-push@a.service.d/clientsecretd-addresses.conf": lines])
            #expect(
                try files(store: [far[0], address])
                    == ["/run/clientsecretd-store.service.d/clientsecretd-addresses.conf": lines])
            #expect(
                try files(verifier: address)
                    == ["/run/clientsecretd-verify@.service.d/clientsecretd-addresses.conf": lines])
        }
    }

    @Test func theMachinesOwnNamesAreOnIt() throws {
        let hosts =
            "# 127.0.0.1 far.example.com\n10.0.0.1 far.example.com\n127.0.1.1\tsigner1.example.com Signer1 # us\n"
        let store = ["https://signer1.example.com:2379", "https://signer2.example.com:2379"]
        #expect(try files(store: store, hosts: hosts).count == 1)
        #expect(try files(["a": "https://signer1"], hosts: hosts).count == 1)
        #expect(
            try files(["a": "https://far.example.com"], store: ["https://signer2.example.com:2379"], hosts: hosts)
                == [:])
    }

    /// What systemd does not tell is not what it denies.
    @Test func aHelperOfWhichSystemdDoesNotTellWhereItConnectsToKeepsWhatItIsAllowed() throws {
        let verifier = "/run/clientsecretd-verify@.service.d/clientsecretd-addresses.conf"
        let store = "/run/clientsecretd-store.service.d/clientsecretd-addresses.conf"
        func changes(unknown: Set<String>, _ found: [String: String], resolvers: String = "") -> [String: String?] {
            RoleAddresses(endpoints: [:], unknown: unknown, resolvers: resolvers, hosts: "")
                .changes(to: found, in: "/run")
        }
        #expect(changes(unknown: [], [verifier: "a", store: "b"]) == [verifier: nil, store: nil])
        #expect(changes(unknown: [PackageUnit.verifier], [verifier: "a", store: "b"]) == [store: nil])
        // What every helper needs it gets all the same, where it has nothing yet.
        let resolver = "nameserver 127.0.0.1\n"
        let lines = "[Service]\nIPAddressAllow=127.0.0.1\n"
        let found = changes(unknown: [PackageUnit.verifier], [store: "b"], resolvers: resolver)
        #expect(found.count == 3)
        #expect(found[verifier] == lines)
        #expect(found[store] == lines)
        #expect(changes(unknown: [PackageUnit.verifier], [verifier: "a"], resolvers: resolver)[verifier] == nil)
    }

    /// The next time, they would look applied.
    @Test func systemdReadsTheFilesThatCouldBeWritten() throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "a.service.d")
        func file(_ unit: String) -> String { directory("\(unit).service.d/\(RoleAddresses.name)") }
        let units = ["b", "c", "d"]
        let changes = Dictionary(uniqueKeysWithValues: (["a"] + units).map { (file($0), Optional($0)) })
        var reloads = 0
        #expect(throws: FileError.self) {
            try RoleAddresses.carryOut(changes, as: .current()) { reloads += 1 }
        }
        #expect(reloads == 1)
        for unit in units { #expect(ForeignFile.read(file(unit), limit: 16) == Array(unit.utf8)) }
    }

    @Test func aResolverThatTheUnitsLeaveOutIsOpened() throws {
        let open = "nameserver 127.0.0.53\nnameserver 10.0.0.2\n# nameserver 127.0.0.1\nnameserver fd00:ec2::253\n"
        #expect(try files(resolvers: open + "search example.com\n") == [:])
        for (line, address) in [
            ("nameserver 127.0.0.1", "127.0.0.1"), ("nameserver\t::1", "::1"), ("nameserver fe80::1%eth0", "fe80::1"),
            ("nameserver 169.254.169.254", "169.254.169.254"),
        ] {
            let found = try files(["a": "http://localhost"], resolvers: open + line + "\n")
            #expect(found.count == 4)
            #expect(
                found["/run/clientsecretd-verify@.service.d/clientsecretd-addresses.conf"]
                    == "[Service]\nIPAddressAllow=\(address)\n")
            #expect(
                found["/run/clientsecretd-push@a.service.d/clientsecretd-addresses.conf"]
                    == "[Service]\nIPAddressAllow=127.0.0.0/8 ::1/128 \(address)\n")
        }
        #expect(try files(resolvers: "nameserver 127.0.0.1\"\nnameserver 127.0.0.1;x\n") == [:])
    }
}
