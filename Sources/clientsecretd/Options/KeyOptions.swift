import AppleClientSecret
import ArgumentParser
import Model

/// What signs, and for which team, by flags.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The private key from Apple.", valueName: "file"), completion: .file(),
        transform: Flags.path)
    var key: AbsolutePath?

    @Option(
        help: ArgumentHelp("The key id (default: from the file name AuthKey_<KEYID>.p8).", valueName: "id"),
        transform: Flags.keyID)
    var keyID: KeyID?

    @Option(help: ArgumentHelp("The team id.", valueName: "id"), transform: Flags.team)
    var teamID: TeamID?
}
