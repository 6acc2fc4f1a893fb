import Foundation
import TestSupport
import Testing

/// What a shell makes of the completions that `make install` lays down: the keys are pressed in real ones.
@Suite(.waits, .needs(.tools)) struct CompletionTests {
    enum Shell: String, CaseIterable {
        case bash
        case zsh
        case fish
    }

    /// One for all shells.
    private static let installation = Result {
        let directory = try TemporaryDirectory()
        try makeTarget("install", into: directory)
        return directory
    }

    /// What is typed before the key, and the command line after it.
    private static let cases = [
        ("clientsecretd insp", "clientsecretd inspect"),
        ("clientsecretd status --wat", "clientsecretd status --watch"),
        ("clientsecretd mint --format js", "clientsecretd mint --format json"),
        ("clientsecretd renew sh", "clientsecretd renew shop"),
        ("clientsecretd mint we", "clientsecretd mint web"),
        ("clientsecretd inspect out/we", "clientsecretd inspect out/web.jwt"),
    ]

    @Test(arguments: Shell.allCases)
    func aShellCompletes(shell: Shell) throws {
        let sandbox = try Sandbox(clients: "web", "shop")
        try sandbox.directory.write("", to: "out/web.jwt")
        let installed = try Self.installation.get()
        let console = try Console(
            columns: 100, rows: 30,
            """
            cd \(sandbox.directory.path)
            export HOME=\(sandbox.directory.path) PATH=\(installed("usr/bin")):/usr/bin:/bin
            export XDG_DATA_DIRS=\(installed("usr/share")):/usr/share
            export CLIENTSECRETD_CONFIG=\(sandbox.configuration)
            \(start(shell, installed))
            """)
        for (typed, completed) in Self.cases {
            try console.press("C-l", "C-u")
            try console.wait(for: "an empty line") { $0 == ["ready>"] }
            try console.type(typed)
            try console.wait(for: "ready> " + typed)
            try console.press("Tab")
            try console.wait(for: completed) { $0.first == "ready> " + completed }
        }
    }

    private func start(_ shell: Shell, _ installed: TemporaryDirectory) -> String {
        switch shell {
        case .bash:
            """
            echo 'PS1="ready> "; source /usr/share/bash-completion/bash_completion' >rc
            exec bash --noprofile --rcfile rc -i
            """
        case .zsh:
            """
            echo 'PS1="ready> "; fpath=(\(installed("usr/share/zsh/vendor-completions")) $fpath)' >.zshrc
            echo 'bindkey -e; autoload -Uz compinit; compinit -u' >>.zshrc
            exec zsh --no-globalrcs -i
            """
        case .fish:
            """
            mkdir -p .config/fish
            echo 'set -g fish_greeting; set -g fish_autosuggestion_enabled 0' >.config/fish/config.fish
            echo 'function fish_prompt; echo -n "ready> "; end' >>.config/fish/config.fish
            exec fish -i
            """
        }
    }
}
