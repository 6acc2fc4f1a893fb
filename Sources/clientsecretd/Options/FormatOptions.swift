import ArgumentParser
import Formats
import Model

/// How a secret is written: the formats of outputs that need nothing but a variable.
struct FormatOptions: ParsableArguments {
    struct Format: ExpressibleByArgument {
        let type: any OutputFormat.Type

        static let all = FormatRegistry.all.filter { $0.setting == nil || $0.setting?.scope == .place }
        /// The options that need a variable, as a part of a sentence.
        static let withVariable =
            all.filter { $0.setting != nil }.map { "--format " + $0.name }.joined(separator: " or ")
        static var allValueStrings: [String] { all.map { $0.name } }
        static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

        init(_ type: any OutputFormat.Type) { self.type = type }

        init?(argument: String) {
            guard let type = Self.all.first(where: { $0.name == argument }) else { return nil }
            self.type = type
        }

        var defaultValueDescription: String { type.name }

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
