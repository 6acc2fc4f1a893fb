import AppleClientSecret
import ArgumentParser
import Model

/// The key that signs, and its team, by flags.
struct KeyOptions: ParsableArguments {
    @Option(help: .value("file", "The private key from Apple."), completion: .file(), transform: Flags.path)
    var key: AbsolutePath?

    @Option(help: .value("id", "The key id (default: from the file name AuthKey_<KEYID>.p8)."), transform: Flags.keyID)
    var keyID: KeyID?

    @Option(help: .value("id", "The team id."), transform: Flags.team)
    var teamID: TeamID?
}
