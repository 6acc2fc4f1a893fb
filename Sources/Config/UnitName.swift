internal import AppleClientSecret
internal import Failures
internal import Model

/// Names of systemd units.
package enum UnitName {
    /// systemd's own limit, UNIT_NAME_MAX less its NUL.
    static let maximumLength = 255

    private static let suffixes = [
        "service", "socket", "target", "timer", "path", "slice", "scope", "mount", "automount", "swap", "device",
    ]

    /// The units that run the daemon, or end and start with it, which no action may name. A daemon that restarts one of them
    /// after each start would never come to an end.
    private static let ownUnits: Set<String> = [
        PackageUnit.daemon, PackageUnit.statusSocket, PackageUnit.credentialSocket, PackageUnit.metricsSocket,
        PackageUnit.singleRun, PackageUnit.singleRunTimer, PackageUnit.sockets,
    ]

    /// Whether this is a unit's full name, its suffix included.
    package static func isValid(_ text: String) -> Bool {
        (try? read(text)) != nil
    }

    /// A unit's full name. `placeholder` allows `%s`, which `on_state_change` replaces by the state. `template` allows a
    /// template, which means all its instances.
    static func read(_ text: String, placeholder: Bool = false, template: Bool = false) throws(ValueError) -> String {
        let name =
            placeholder ? text.split(separator: "%s", omittingEmptySubsequences: false).joined(separator: "ok") : text
        guard let dot = name.lastIndex(of: "."), suffixes.contains(String(name[name.index(after: dot)...])) else {
            // "myapp" and "my.app" lack a suffix; in "myapp.servce" it is misspelt.
            let misspelt = text.lastIndex(of: ".").flatMap { dot in
                nearest(to: String(text[text.index(after: dot)...]), among: suffixes).map { String(text[...dot]) + $0 }
            }
            // No unit is suggested that is refused then.
            if let problem = problem(ofOwn: misspelt ?? "\(text).service", in: text) { throw ValueError(problem) }
            if let misspelt {
                throw ValueError("\(quoted(text)) is not a unit's name; did you mean \(quoted(misspelt))?")
            }
            throw ValueError(
                "\(quoted(text)) has no unit suffix; write \(isPlain(text) ? "\(text).service" : "NAME.service")")
        }
        let valid = name.utf8.allSatisfy { $0.isASCIIAlphanumeric || ":-_.\\@".utf8.contains($0) }
        guard valid, name.utf8.count <= maximumLength, dot > name.startIndex, name.first != "@" else {
            if text.contains("%s") && !placeholder {
                throw ValueError(
                    "\(quoted(text)) contains \"%s\", which works only in on_state_change; write the unit's name")
            }
            throw ValueError("\(quoted(text)) is not a unit's name; write it as systemctl shows it")
        }
        guard template || !isTemplate(name) else {
            throw ValueError("\(quoted(text)) is a template; write an instance, \(quoted(instance(of: text)))")
        }
        if let problem = problem(ofOwn: name, in: text) { throw ValueError(problem) }
        return text
    }

    /// Why no action may name one of the daemon's own units, which the text means with or without a suffix; nil for another unit.
    package static func problem(ofOwn text: String) -> String? {
        problem(ofOwn: text, in: text) ?? problem(ofOwn: "\(text).service", in: text)
    }

    private static func problem(ofOwn name: String, in text: String) -> String? {
        guard ownUnits.contains(name) else { return nil }
        return "\(quoted(text)) is the daemon's own; write the unit of the program that reads the secret"
    }

    static func isTemplate(_ unit: String) -> Bool {
        unit.contains("@.")
    }

    private static func isPlain(_ text: String) -> Bool {
        quoted(text) == "\"\(text)\"" && !text.contains(" ") && !text.contains("/")
    }

    static func instance(of template: String) -> String {
        template.split(separator: "@.", maxSplits: 1).joined(separator: "@NAME.")
    }
}
