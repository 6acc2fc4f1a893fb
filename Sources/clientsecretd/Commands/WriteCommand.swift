import ArgumentParser
import Linux
import SystemPackage
import Systemd
import UserWriter

/// `write`: the user writer of the user that it runs as, started by its socket's unit or by a daemon that runs as root.
struct WriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write the daemon's secrets into this user's files.",
        discussion: """
            clientsecretd-writer@USER.socket starts it for outputs with 'as: USER'. Only root and the daemon's user \
            may send requests. It writes only what the configuration names for its own user. It has no key, and ends \
            after 30 seconds without a request.

            Examples:
              systemctl enable --now clientsecretd-writer@app.socket
              systemctl status clientsecretd-writer@app.service
            """)

    @OptionGroup var settings: ConfigurationOption

    @Option(help: .value("user", "The user that the daemon runs as. It may send requests, and so may root."))
    var daemonUser = "clientsecretd"

    func run() throws {
        let service = UserWriterService(
            configuration: settings.path(), daemonUser: daemonUser, identity: .current())
        do {
            var passed = try PassedSockets()
            // Other processes of the same user must not inspect this one or gain rights through it.
            try Hardening.forbidInspection()
            try Hardening.forbidNewPrivileges()
            if let name = passed.names.first, let socket = try passed.take(name) {
                try SignalDescriptor.blockSignals()
                try service.serve(try ActivatedListener(socket))
            } else if (try? Peer(of: 0)) != nil {
                service.serve(Descriptor(adopting: 0))
            } else {
                throw CommandFailure(
                    .usage, "this is started by its socket: systemctl enable --now clientsecretd-writer@USER.socket")
            }
        } catch let error as SystemError {
            throw CommandFailure(.failed, error.description)
        }
    }
}
