import Testing

@testable import Linux

/// Which service a process belongs to.
@Suite struct CgroupTests {
    @Test(arguments: [
        ("0::/system.slice/shop.service\n", "shop.service"),
        ("0::/system.slice/system-shop.slice/shop@one.service\n", "shop@one.service"),
        ("0::/system.slice/shop.service/worker\n", "shop.service"),
        ("0::/system.slice/shop.service/important.service\n", "shop.service"),
        ("0::/system.slice/docker-0123.scope/system.slice/shop.service\n", nil),
        ("1:name=systemd:/system.slice/shop.service\n2:cpu:/\n", "shop.service"),
        ("9:name=systemd:/\n1:cpu:/\n0::/system.slice/shop.service\n", "shop.service"),
        ("4:memory:/system.slice/shop.service\n0::/\n", nil),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/shop.service\n", nil),
        ("0::/user.slice/user-0.slice/session-1.scope\n", nil),
        ("0::/system.slice/docker-0123.scope\n", nil), ("", nil), ("0::\n", nil),
        ("12:cpu:/\n1:name=systemd:/system.slice/a@b.service\n0::/\n", "a@b.service"),
        ("0::/system.slice/_cpu.service\n", "cpu.service"), ("0::/system.slice/_cpu.service/worker\n", "cpu.service"),
    ])
    func aProcesssServiceIsKnown(text: String, unit: String?) {
        #expect(Cgroup.service(in: text) == unit)
    }
}
