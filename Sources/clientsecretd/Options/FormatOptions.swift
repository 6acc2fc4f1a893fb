import ArgumentParser
import Formats
import Model

/// How a secret is written: the formats of outputs that need nothing but a variable.
struct FormatOptions: ParsableArguments {
    struct Format: NamedChoice {
        let type: any OutputFormat.Type

        static let choices = FormatRegistry.all.filter { $0.setting == nil || $0.setting?.scope == .place }
            .map(Format.init)
        /// The options that need a variable, as a part of a sentence.
        static let withVariable =
            choices.filter { $0.type.setting != nil }.map { "--format " + $0.name }.joined(separator: " or ")

        init(_ type: any OutputFormat.Type) { self.type = type }

        var name: String { type.name }

        /// Throws if it needs a variable or takes none.
        ///
        /// - Parameter canAsk: whether a person is going to be asked for one that is missing.
        func check(_ variable: String?, canAsk: Bool = false) throws(ValidationError) {
            if !canAsk, let setting = type.setting, variable == nil {
                throw ValidationError(
                    "--format \(type.name) needs --\(setting.name), such as --\(setting.name) APPLE_CLIENT_SECRET")
            }
            if type.setting == nil, variable != nil {
                throw ValidationError("--variable belongs to \(Self.withVariable)")
            }
        }
    }

    @Option(help: "The form of the secret.")
    var format = Format(FormatRegistry.standard)

    @Option(help: .value("name", "The variable that \(Format.withVariable) sets."), transform: Flags.variable)
    var variable: String?

    var slot: FileSlot { FileSlot(variable: variable) }

    mutating func validate() throws { try format.check(variable) }
}
