/// Whether this machine is run by systemd.
package enum SystemManager {
    /// Whether systemd is the system manager, by the test that sd_booted(3) makes.
    package static var isSystemd: Bool { FileStatus.following("/run/systemd/system") != nil }
}
