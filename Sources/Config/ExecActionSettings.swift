import AppleClientSecret
import Model

/// `exec:`: a program and its arguments, without a shell.
enum ExecActionSettings {
    static let verb = "exec"
    /// The further key of such an action.
    static let timeout = "timeout"

    static func read(in item: Section) -> Action? {
        let timeout = item.value(timeout) { text throws(ValueError) in
            try Scalar.duration(text, examples: "45s or 5m", in: SettingLimits.timeout)
        }
        guard let arguments = arguments(in: item), !timeout.isWrong else { return nil }
        return .exec(arguments: arguments, timeout: timeout.value ?? Action.defaultTimeout)
    }

    private static func arguments(in item: Section) -> [String]? {
        guard let (node, position) = item.node(verb) else { return nil }
        if case .scalar(let text) = node.content, !text.isEmpty {
            item.diagnostics.error(
                at: node.position,
                "\"exec\" is a list, because there is no shell; write [/usr/local/bin/after-rotation, --quiet]")
            return nil
        }
        guard let items = item.list(verb, { argument($0, item.diagnostics) }).value else { return nil }
        guard let first = items.first else {
            item.diagnostics.error(at: position, "\"exec\" is empty; write the program's path and its arguments")
            return nil
        }
        let arguments = items.compactMap { $0?.value }
        guard arguments.count == items.count, let first else { return nil }
        let most = SettingLimits.mostArguments
        let length = arguments.reduce(0) { $0 + $1.utf8.count }
        guard arguments.count <= most, length <= SettingLimits.longestArguments else {
            item.diagnostics.error(
                at: position,
                "\"exec\" takes at most \(most) arguments and 64 KiB in all; put them into a script")
            return nil
        }
        let program = Setting(
            YAMLNode(position: first.position, content: .scalar(first.value)), named: "the program", at: position,
            item.diagnostics
        ) { text throws(ValueError) in
            guard text.hasPrefix("/") else {
                throw ValueError("program \(quoted(text)) is not looked up in PATH; write its absolute path")
            }
            return try Scalar.file(text)
        }
        return program.value.map { [$0.description] + arguments.dropFirst() }
    }

    /// Unlike other values, an argument may be empty (`""`).
    private static func argument(_ node: YAMLNode, _ diagnostics: Diagnostics) -> Located<String>? {
        switch node.content {
        case .scalar(let text): return Located(text, at: node.position)
        case .refused: return nil
        case .sequence, .mapping:
            diagnostics.error(at: node.position, "an argument is one value; put it in quotes")
            return nil
        }
    }

    /// The program that an action runs; nil for one of another kind.
    static func program(of action: Action) -> AbsolutePath? {
        guard case .exec(let arguments, _) = action else { return nil }
        return arguments.first.flatMap { AbsolutePath($0) }
    }

    /// A command runs once for all clients that have it, so it has one timeout.
    static func checkTimeouts(of actions: [Located<Action>], _ diagnostics: Diagnostics) {
        var timeouts: [ActionID: Located<Seconds>] = [:]
        for action in actions {
            guard case .exec(_, let timeout) = action.value else { continue }
            let id = action.value.id
            guard let first = timeouts[id] else {
                timeouts[id] = Located(timeout, at: action.position)
                continue
            }
            guard first.value != timeout else { continue }
            diagnostics.error(
                at: action.position,
                "the same command has a timeout of \(DurationText.text(first.value)) at \(first.position.seen(from: action.position)) "
                    + "and of \(DurationText.text(timeout)) here, but runs once for both; write the same timeout in both"
            )
        }
    }
}
