import Failures
import Testing

@testable import Linux

@Suite struct MountTableTests {
    private let table = MountTable(
        #"""
        20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        21 20 0:30 / /srv rw - tmpfs a rw
        22 20 0:31 / /srv ro - tmpfs b rw
        23 20 0:32 / /mnt/a\040b\134 rw - nfs4 c ro
        24 20 0:33 / /srv/app rw shared:2 master:1 - tmpfs d rw
        not a mount
        """#)

    @Test(arguments: [
        ("/", "/"), ("/etc/a", "/"), ("/srv", "/srv"), ("/srv/x", "/srv"), ("/srvx", "/"), ("/srv/apple", "/srv"),
        ("/srv/app/.env", "/srv/app"), (#"/mnt/a b\/f"#, #"/mnt/a b\"#),
    ])
    func aPathIsOnTheDeepestMountAboveIt(path: String, point: String) {
        #expect(table.mount(of: path)?.point == point)
    }

    @Test(
        arguments: [
            ("/tmp/systemd-private-0a-clientsecretd.service-x/tmp", "/tmp", true),
            ("/systemd-private-0a-b/tmp", "/tmp", true),
            ("/", "/tmp", false), ("/var/tmp/systemd-private-0a-b/tmp", "/var/tmp", true),
            ("/tmp/systemd-private-0a-b/tmp", "/srv/tmp", false),
        ])
    func aPrivateTmpIsKnown(root: String, point: String, isPrivate: Bool) {
        let table = MountTable("20 1 8:1 \(root) \(point) rw - ext4 /dev/sda1 rw\n")
        #expect(table.mount(of: point + "/x")?.isPrivate == isPrivate)
    }

    /// Another user may have mounted one file, or everything else, as often as the kernel lets it.
    @Test func ofAnotherTableOnlyWhatIsWantedIsKept() {
        let table = MountTable(
            """
            20 1 8:1 / / rw - ext4 /dev/sda1 rw
            21 20 8:1 /etc/a /b rw - ext4 /dev/sda1 rw
            22 20 0:9 /etc/a /c rw - tmpfs t rw
            23 22 8:1 /etc/a /c/d rw - ext4 /dev/sda1 rw
            24 20 8:1 /etc/other /e rw - ext4 /dev/sda1 rw

            """)
        func lines(limit: Int) -> ([Int], Bool) {
            let found = table.some(limit: limit) { $0.device == "8:1" && $0.root == "/etc/a" }
            return (found.mounts.map(\.line), found.isCut)
        }
        #expect(lines(limit: 2) == ([1, 2, 3, 4], false))
        #expect(lines(limit: 1) == ([1, 2], true))
        #expect(lines(limit: 0) == ([], true))
    }

    /// Of two mounts at one point the last counts.
    @Test func theMountThatMakesADirectoryReadOnlyIsNamed() {
        #expect(ReadOnlyCause.of("/srv/x", in: table, isUnit: true) == .mount("/srv"))
        #expect(ReadOnlyCause.of(#"/mnt/a b\"#, in: table, isUnit: true) == .fileSystem(#"/mnt/a b\"#))
        #expect(ReadOnlyCause.of("/srv/app", in: table, isUnit: true) == nil)
        #expect(ReadOnlyCause.of("/etc", in: table, isUnit: true) == nil)
        let sandbox = MountTable("20 1 8:1 / / ro - ext4 /dev/sda1 rw\n21 20 0:9 / /run ro - tmpfs tmpfs rw\n")
        #expect(ReadOnlyCause.of("/etc", in: sandbox, isUnit: true) == .sandbox)
        #expect(ReadOnlyCause.of("/run/app", in: sandbox, isUnit: true) == .sandbox)
        #expect(ReadOnlyCause.of("/etc", in: sandbox, isUnit: false) == .mount("/"))
    }
}
