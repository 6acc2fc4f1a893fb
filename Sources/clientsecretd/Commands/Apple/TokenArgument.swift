import ArgumentParser

/// The file with the token that a command is given.
struct TokenArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A file with the token, or from 'exchange --save' (default: the terminal or standard input).",
            valueName: "file"),
        completion: .file())
    var file = NamedFile.standardInput

    /// The token: what the file holds, or this member of it.
    func token(_ member: String, asking question: String) throws(CommandFailure) -> String {
        try HeldToken.token(in: HeldToken.read(file, asking: question), of: file, member: member)
    }
}
