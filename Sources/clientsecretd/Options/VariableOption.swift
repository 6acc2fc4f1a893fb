import ArgumentParser

/// Which variable of an environment file holds the secret.
struct VariableOption: ParsableArguments {
    @Option(
        help: .value(
            "name", "The variable with the secret, in an environment file (default: the only one that holds a token)."),
        transform: Flags.variable)
    var variable: String?
}
