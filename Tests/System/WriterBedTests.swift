import Foundation
import TestSupport
import Testing

/// Writers that a real systemd starts for a daemon that runs as its own user, behind the sandbox of its unit.
@Suite struct WriterBedTests {
    @Test(.needsRoot("boots a systemd"))
    func filesOfOtherUsersAreWrittenByTheirWriters() throws {
        let directory = try TemporaryDirectory()
        let binary =
            ProcessInfo.processInfo.environment["CLIENTSECRETD_BINARY"]
            ?? repository + "/.build/release/clientsecretd"
        for (from, to) in [
            (binary, "clientsecretd"), (repository + "/systemd", "systemd"),
            (repository + "/Tests/Writers/ask.py", "ask.py"),
        ] {
            try FileManager.default.copyItem(
                at: URL(fileURLWithPath: from).resolvingSymlinksInPath(), to: URL(fileURLWithPath: directory(to)))
        }
        _ = unsafe chmod(directory.path, 0o755)
        let bed = repository + "/Tests/System/bed/"
        let seen = try run([
            bed + "run.sh", "-t", "120", "-b", "\(directory.path):/srv/share", bed + "writers.sh", "/srv/share",
        ])
        #expect(seen.status == 0, "\(seen.complaints)")
        #expect(seen.output == Self.expected, "\(seen.complaints)")
    }

    private static let expected = #"""
        without writers: ok failed
        what helps: systemctl enable --now clientsecretd-writer@app.socket
        what helps: systemctl enable --now clientsecretd-writer@root.socket
        sockets: root 755,clientsecretd 600,clientsecretd 600
        with them: ok ok, check 0
        secrets: 1 web
        file: /srv/app/.env app:app 640
        file: /home/app/site/.env app:app 600
        file: /etc/myapp/env root:root 600
        # the site^M$
        PORT=80^M$
        SECRET=...^M$
        NAME="my site"$
        SECRET=...$
        LOG=info$
        SECRET=...$
        writer of app: app, capability sets that are empty: 5 networks: 1
        writer of root: root, capability sets that are empty: 5 networks: 1
        asked by app: PermissionError: [Errno 13] Permission denied
        asked by stranger: PermissionError: [Errno 13] Permission denied
        renewed after a kill: 1 web
        repaired: 1 web
        what helps: chmod a+rx /etc/clientsecretd && chmod a+r /etc/clientsecretd/clientsecretd.yaml
        meanwhile: ok failed
        and then: 1 web
        at last: ok ok

        """#
}
