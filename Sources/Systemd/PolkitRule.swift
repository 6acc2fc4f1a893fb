internal import AppleClientSecret

/// The polkit rule (polkit(8)) that lets one user have systemd run some operations on one unit.
package enum PolkitRule {
    /// The file in which an administrator writes such rules; polkit reads them as soon as they change.
    package static let file = "/etc/polkit-1/rules.d/50-clientsecretd.rules"

    /// The whole rule, on one line.
    package static func text(user: String, unit: String, verbs: [String]) -> String {
        let choices = verbs.map { "action.lookup(\"verb\") == \(quoted($0))" }.joined(separator: " || ")
        return """
            polkit.addRule(function(action, subject) { \
            if (action.id == "org.freedesktop.systemd1.manage-units" && subject.user == \(quoted(user)) && \
            action.lookup("unit") == \(quoted(unit)) && \(verbs.count > 1 ? "(\(choices))" : choices)) \
            return polkit.Result.YES; });
            """
    }

    /// A string of JavaScript, which writes it as JSON does.
    private static func quoted(_ text: String) -> String { JSONText.string(text).rendered }
}
