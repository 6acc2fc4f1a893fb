import AppleClientSecret
import ArgumentParser
import Model
import Push

/// The place behind an API that `init` has the secret put into.
struct InitTargetFlags: ParsableArguments {
    @Option(help: .value("kind", "The kind of API to push the secret to."))
    var push: Kind?

    @Option(
        name: .customLong("set"),
        help: .value(
            "name=value", "A setting of the target, such as project=shop. Separate the items of a list with commas."),
        transform: Self.setting)
    var settings: [(name: String, value: String)] = []

    @Option(help: .value("name", "The target's name (default: production)."), transform: Self.name)
    var target: TargetName?

    @Option(
        help: .value(
            "file", "The file with the API's token and nothing else (default: prompt for it, and write a file)."),
        completion: .file(), transform: Flags.path)
    var tokenFile: AbsolutePath?

    /// The values of the flags.
    var given: InitTarget? {
        guard let kind = push?.kind, let name = target ?? TargetName("production") else { return nil }
        return InitTarget(
            kind: kind, name: name, settings: Dictionary(settings.map { ($0.name, $0.value) }) { $1 },
            tokenFile: tokenFile)
    }

    mutating func validate() throws {
        guard let given else {
            guard settings.isEmpty, target == nil, tokenFile == nil else {
                throw ValidationError("--set, --target and --token-file belong to --push")
            }
            return
        }
        for setting in settings {
            guard given.names.contains(setting.name) else {
                throw ValidationError(
                    "a target of the kind \(given.kind.name) has no '\(setting.name)'; it has "
                        + given.names.joined(separator: ", "))
            }
        }
    }

    /// A kind with built-in requests; a target of the kind `http` is written by hand.
    struct Kind: NamedChoice {
        let kind: PushKind

        static var choices: [Kind] { PushKind.all.map(Kind.init) }

        var name: String { kind.name }
    }

    private static func setting(_ text: String) throws -> (name: String, value: String) {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else { throw ValidationError("write a setting like project=shop") }
        return (String(parts[0]), String(parts[1]))
    }

    /// A name that is the name of a user too, which systemd makes for the target.
    private static func name(_ text: String) throws -> TargetName {
        guard let name = TargetName(text), text.utf8.count <= 27, !text.hasPrefix("-"),
            text.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "-_".utf8.contains($0) })
        else {
            throw ValidationError("a target's name has up to 27 letters, digits, '-' and '_', such as production")
        }
        return name
    }
}
