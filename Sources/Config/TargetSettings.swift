import AppleClientSecret
import Failures
import Formats
import Model
package import Push

/// One entry of `targets`: a place behind an API that takes secrets.
struct TargetSettings {
    /// The settings of every kind.
    static let shared = ["kind", "endpoint", "ca_file", "token_credential", "token_file"]
    /// Further settings of kinds whose secrets act with the next deployment.
    static let deployed = ["redeploy"]
    /// Further settings of `http`.
    static let custom = ["url", "method", "headers", "body", "done", "read"]
    /// The settings of `read`.
    static let read = ["url", "pointer"]

    let name: Located<TargetName>
    /// Nil if a setting is wrong.
    let target: PushTarget?
    /// The file with the token, if the target names one.
    private(set) var tokenFile: Located<AbsolutePath>?
    /// The file with the API's authorities, if the target names one.
    private(set) var caFile: Located<AbsolutePath>?

    /// The files that the target names, with the code of a failure about each.
    var files: [(file: Located<AbsolutePath>, code: Failure.Code)] {
        [tokenFile.map { ($0, .pushTokenUnusable) }, caFile.map { ($0, .pushFileUnusable) }].compactMap(\.self)
    }

    /// Nil when its name is invalid or its value no mapping; its settings are still checked.
    init?(_ entry: YAMLEntry, _ diagnostics: Diagnostics) {
        // It becomes a unit's and a socket's name.
        let (name, owner) = Scalar.name(of: entry, "target", diagnostics) { TargetName($0) }
        let before = diagnostics.errors
        guard let kind = Self.kind(of: entry, owner, diagnostics) else { return nil }
        let known = PushKind.all.first { $0.name == kind }
        let names =
            known.map { Self.shared + $0.settings.map(\.name) + ($0.deployedBy == nil ? [] : Self.deployed) }
            ?? Self.shared.filter { $0 != "endpoint" } + Self.custom
        guard let section = Section(entry.value, of: owner, at: entry.key.position, names: names, diagnostics) else {
            return nil
        }
        caFile = section.value("ca_file", Scalar.file).located
        var token = Self.token(in: section)
        if case .file(let path)? = token.value, let position = token.position {
            tokenFile = AbsolutePath(path).map { Located($0, at: position) }
        }
        let settings = known.map { Self.settings(of: $0, in: section) } ?? [:]
        let redeploys = known?.deployedBy.map { _ in section.value("redeploy", Scalar.truth).value ?? false }
        let complete = known ?? Self.customKind(in: section)
        var endpoint: String? = ""
        if let known {
            endpoint = Self.endpoint(of: known, settings, in: section)
            if let redeploys {
                Self.checkProduction(of: known, settings, redeploys: redeploys, errorsBefore: before, in: section)
            }
            if diagnostics.errors == before { Self.warn(of: known, settings, in: section) }
        }
        let own = section.has("endpoint") ? nil : complete?.own
        if token.isAbsent, let own {
            token = .given(Located(.file(own.token), at: section.position))
        } else if token.isAbsent, known != nil || complete?.mentionsToken == true {
            diagnostics.error(
                at: section.position(of: "headers"),
                "\(owner) names no token; write \"token_credential\" or, without systemd, \"token_file\"")
        }
        guard let name else { return nil }
        self.name = name
        guard diagnostics.errors == before, let complete, let endpoint else {
            target = nil
            return
        }
        target = PushTarget(
            name: name.value.description, kind: complete, settings: settings, endpoint: endpoint,
            caFile: caFile?.value.description ?? own?.authorities,
            token: token.value, redeploys: redeploys)
    }

    private static func kind(of entry: YAMLEntry, _ owner: String, _ diagnostics: Diagnostics) -> String? {
        guard
            let lines = Section.lines(of: entry.value, named: owner, at: entry.key.position, diagnostics)
        else { return nil }
        let kinds = PushKind.all.map(\.name) + ["http"]
        guard let line = lines.first(where: { $0.key.value == "kind" }) else {
            diagnostics.error(
                at: entry.key.position, "\(owner) has no \"kind\"; write \(alternatives(kinds))")
            return nil
        }
        return Setting(line.value, named: "\"kind\"", at: line.key.position, diagnostics) { text throws(ValueError) in
            if kinds.contains(text) { return text }
            throw ValueError("unknown kind\(apposition(text)); \(advice(for: text, among: kinds, otherwise: kinds))")
        }.value
    }

    /// The address that is written, else the kind's own.
    private static func endpoint(of kind: PushKind, _ settings: [String: String], in section: Section) -> String? {
        let written = section.value("endpoint", address)
        guard written.isAbsent else { return written.value?.description }
        guard let template = kind.endpoint else {
            section.diagnostics.error(
                at: section.position,
                "\(section.owner) has no \"endpoint\"; write where the API is, such as https://\(kind.name).example.com"
            )
            return nil
        }
        let text = settings.reduce(template) { $0.replacing("{{\($1.key)}}", with: $1.value) }
        if WebAddress(text) == nil {
            section.diagnostics.error(
                at: section.position, "the settings of \(section.owner) do not give a usable address")
        }
        return text
    }

    private static func settings(of kind: PushKind, in section: Section) -> [String: String] {
        var values: [String: String] = [:]
        for setting in kind.settings {
            let value: Setting<String>
            if setting.isList {
                let list = items(setting.name, in: section) { text throws(ValueError) in
                    try choice(text, of: setting)
                }
                // In one order, because the API takes the list for a set.
                let known = setting.choices ?? list.value?.sorted() ?? []
                value = list.map { items in
                    "[" + known.filter(items.contains).map { "\"\($0)\"" }.joined(separator: ",") + "]"
                }
            } else {
                value = section.value(setting.name) { text throws(ValueError) in
                    try setting.choices == nil ? word(text, isPath: setting.isPath) : choice(text, of: setting)
                }
            }
            if value.isAbsent, setting.standard == nil {
                section.diagnostics.error(
                    at: section.position, "\(section.owner) has no \"\(setting.name)\"; write \(setting.advice)")
            }
            values[setting.name] = value.value ?? setting.standard ?? ""
        }
        return values
    }

    /// The different items of a list, at least one.
    static func items<Item: Hashable & CustomStringConvertible>(
        _ name: String, in section: Section, _ parse: (String) throws(ValueError) -> Item
    ) -> Setting<[Item]> {
        let diagnostics = section.diagnostics
        var known: Set<Item> = []
        let list = section.list(name) { node -> Item? in
            let item = Setting(node, named: "an item of \"\(name)\"", at: node.position, diagnostics, parse).value
            if let item, !known.insert(item).inserted {
                diagnostics.error(
                    at: node.position, "\(quoted(item.description)) is already in the list; remove one")
            }
            return item
        }
        if list.value?.isEmpty == true {
            diagnostics.error(
                at: section.position(of: name), "\"\(name)\" is an empty list; write an item, or remove the line")
        }
        return list.map { $0.compactMap(\.self) }
    }

    /// Reports that production does not get the secret: an error if the target deploys production; otherwise a warning, unless
    /// the target has an error.
    ///
    /// - Parameter errorsBefore: how many errors there were before those of this target.
    private static func checkProduction(
        of kind: PushKind, _ settings: [String: String], redeploys: Bool, errorsBefore: Int, in section: Section
    ) {
        guard let environments = kind.deployedBy, settings[environments]?.contains("production") == false else {
            return
        }
        let position = section.mentions(environments) ? section.position(of: environments) : section.position
        if redeploys {
            section.diagnostics.error(
                at: position,
                "\(section.owner) has \"redeploy: true\", which deploys production, but \"\(environments)\" does not name it; "
                    + "add production there, or remove \"redeploy\"")
        } else if section.diagnostics.errors == errorsBefore {
            section.diagnostics.warning(
                at: position,
                "\(section.owner) sets nothing for production; add production if deployments need the secret there")
        }
    }

    /// One of the values that a setting may have.
    fileprivate static func choice(_ text: String, of setting: PushSetting) throws(ValueError) -> String {
        let choices = setting.choices ?? []
        guard choices.contains(text) else {
            let advice = advice(for: text, among: choices, otherwise: choices)
            throw ValueError("unknown \(setting.isList ? "item" : "value")\(apposition(text)); \(advice)")
        }
        return text
    }

    /// Warns of settings that belong into another one. Otherwise secrets would go to a place next to the intended one.
    private static func warn(of kind: PushKind, _ settings: [String: String], in section: Section) {
        for (setting, words) in kind.misplaced(in: settings) {
            section.diagnostics.warning(
                at: section.position(of: setting), "\(words), which is usually not part of it; remove it")
        }
    }

    /// A name at an API: printable, on one line, without characters that could lead elsewhere in an address.
    fileprivate static func word(_ text: String, isPath: Bool) throws(ValueError) -> String {
        guard text.utf8.count <= 512, text.utf8.allSatisfy({ $0.isASCIIPrintable && !#""\"#.utf8.contains($0) })
        else { throw ValueError("\(quoted(text)) cannot be a name there; write one on one line, without quotes") }
        guard isPath || !text.contains("/") else {
            throw ValueError("\(quoted(text)) contains \"/\"; write only the name")
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.contains(".."), !parts.contains("."), !isPath || !parts.contains("") else {
            throw ValueError("\(quoted(text)) can lead somewhere else; write it without \".\", \"..\" and \"//\"")
        }
        return text
    }

    private static func address(_ text: String) throws(ValueError) -> WebAddress {
        var rest = text[...]
        while rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let address = WebAddress(String(rest)) else {
            throw ValueError(
                "\(quoted(text)) is not an address for secrets; write https://, a host and, if needed, a path "
                    + "(http:// only on this machine)")
        }
        return address
    }

    private static func token(in section: Section) -> Setting<PushTarget.TokenPlace> {
        // Either may be the token itself, written in the wrong place.
        section.either(
            "token_credential",
            { text throws(ValueError) in
                .credential(
                    try Scalar.credential(text, longest: SettingLimits.longestTokenCredential, secret: true))
            },
            or: "token_file", { text throws(ValueError) in .file(try Scalar.path(text, secret: true).description) })
    }
}

extension PushSetting {
    /// Why a text cannot be the value of a setting that is no list, and its correction; nil if it can.
    package func problem(in text: String) -> String? {
        do throws(ValueError) {
            _ = try choices == nil ? TargetSettings.word(text, isPath: isPath) : TargetSettings.choice(text, of: self)
            return nil
        } catch {
            return error.words
        }
    }
}
