import AppleClientSecret
import Formats
import Model
import Push

/// One entry of `targets`: a place behind an API that takes secrets.
struct TargetSettings {
    /// What every kind has.
    static let shared = ["kind", "endpoint", "ca_file", "token_credential", "token_file"]
    /// What kinds have besides whose secrets act with the next deployment.
    static let deployed = ["redeploy"]
    /// What `http` has besides.
    static let custom = ["url", "method", "headers", "body", "done", "read"]
    /// What `read` has.
    static let read = ["url", "pointer"]

    /// Every setting of some kind.
    static var names: [String] {
        var names = shared + deployed + custom
        for setting in PushKind.all.flatMap(\.settings) where !names.contains(setting.name) {
            names.append(setting.name)
        }
        return names
    }

    private static let serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/"

    let name: Located<String>
    /// Nil where a setting is wrong.
    let target: PushTarget?

    /// Nil when its name is invalid or its value no mapping; its settings are checked all the same.
    init?(_ entry: YAMLEntry, _ diagnostics: Diagnostics) {
        // By the rules for keys and clients: it becomes a unit's and a socket's name.
        let name = KeyName(entry.key.value)?.description
        if name == nil { diagnostics.error(at: entry.key.position, Scalar.badName(entry.key.value)) }
        let owner = name.map { "target \"\($0)\"" } ?? "this target"
        let before = diagnostics.errors
        guard let kind = Self.kind(of: entry, owner, diagnostics) else { return nil }
        let isCustom = kind == "http"
        let known = PushKind.all.first { $0.name == kind }
        let names =
            isCustom
            ? Self.shared.filter { $0 != "endpoint" } + Self.custom
            : Self.shared + (known?.settings.map(\.name) ?? []) + (known?.isDeployed == true ? Self.deployed : [])
        guard let section = Section(entry.value, of: owner, at: entry.key.position, names: names, diagnostics) else {
            return nil
        }
        let caFile = section.value("ca_file", Scalar.file)
        var token = Self.token(in: section)
        var endpoint = section.value("endpoint") { text throws(Mistake) in try Self.address(text) }.value?.description
        var settings: [String: String] = [:]
        var complete: PushKind?
        let redeploys = known?.isDeployed == true ? section.value("redeploy", Scalar.truth).value ?? false : nil
        if isCustom {
            complete = Self.customKind(in: section)
            endpoint = ""
        } else if let known {
            settings = Self.settings(of: known, in: section)
            complete = known
            if let redeploys, settings["environments"]?.contains("\"production\"") == false {
                let position =
                    section.mentions("environments") ? section.position(of: "environments") : section.position
                if redeploys {
                    diagnostics.error(
                        at: position,
                        "\(owner) has \"redeploy: true\", and production, which that deploys, is none of its \"environments\"; "
                            + "add it there, or leave \"redeploy\" out")
                } else if diagnostics.errors == before {
                    diagnostics.warning(
                        at: position, "no deployment to production has what \(owner) sets; add production if it should")
                }
            }
            if diagnostics.errors == before { Self.warn(of: known, settings, endpoint, in: section) }
            let isOwnCluster = known.name == "kubernetes" && !section.has("endpoint")
            if !section.mentions("endpoint") {
                endpoint = known.endpoint.map { text in
                    settings.reduce(text) { $0.replacing("{{\($1.key)}}", with: $1.value) }
                }
                if endpoint == nil {
                    diagnostics.error(
                        at: section.position,
                        "\(owner) has no \"endpoint\"; write where the API is, such as https://\(kind).example.com")
                } else if let text = endpoint, WebAddress(text) == nil {
                    diagnostics.error(at: section.position, "the settings of \(owner) make no usable address")
                }
            }
            if token.isAbsent, isOwnCluster {
                token = .given(Located(.file(Self.serviceAccount + "token"), at: section.position))
            } else if token.isAbsent {
                diagnostics.error(
                    at: section.position,
                    "\(owner) names no token; write \"token_credential\" or, without systemd, \"token_file\"")
            }
        }
        guard let name else { return nil }
        self.name = Located(name, at: entry.key.position)
        guard diagnostics.errors == before, let complete, let endpoint else {
            target = nil
            return
        }
        let isOwnCluster = kind == "kubernetes" && !section.has("endpoint")
        target = PushTarget(
            name: name, kind: complete, settings: settings, endpoint: endpoint,
            caFile: caFile.value?.description ?? (isOwnCluster ? Self.serviceAccount + "ca.crt" : nil),
            token: token.value, redeploys: redeploys)
    }

    /// Finds targets that would overwrite each other.
    static func check(_ targets: [TargetSettings], _ diagnostics: Diagnostics) {
        var known: [String: [(name: Located<String>, member: String?)]] = [:]
        for target in targets {
            guard let document = target.target?.document else { continue }
            let others = known[document.place] ?? []
            if let other = others.first(where: {
                $0.member == document.member || $0.member == nil || document.member == nil
            }) {
                diagnostics.error(
                    at: target.name.position,
                    "target \"\(target.name.value)\" overwrites what target \"\(other.name.value)\" writes "
                        + "(\(other.name.position.seen(from: target.name.position))); "
                        + "write a \"field\" of its own for each, or another \"secret_id\"")
            }
            known[document.place] = others + [(target.name, document.member)]
        }
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
        return Setting(line.value, named: "\"kind\"", at: line.key.position, diagnostics) { text throws(Mistake) in
            if kinds.contains(text) { return text }
            let advice = nearest(to: text, among: kinds).map { "did you mean \"\($0)\"?" }
            throw Mistake("unknown kind\(apposition(text)); \(advice ?? "write \(alternatives(kinds))")")
        }.value
    }

    private static func settings(of kind: PushKind, in section: Section) -> [String: String] {
        var values: [String: String] = [:]
        for setting in kind.settings {
            let value: Setting<String>
            if setting.isList {
                let list = section.list(setting.name) { node in
                    Setting(node, named: "an item of \"\(setting.name)\"", at: node.position, section.diagnostics) {
                        text throws(Mistake) in try choice(text, of: setting)
                    }.value
                }
                value =
                    switch list {
                    case .absent: .absent
                    case .wrong: .wrong
                    case .given(let items):
                        .given(
                            Located(
                                "[" + items.value.compactMap { $0 }.map { "\"\($0)\"" }.joined(separator: ",") + "]",
                                at: items.position))
                    }
            } else {
                value = section.value(setting.name) { text throws(Mistake) in
                    try word(text, isPath: setting.isPath)
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

    /// One of the values that a list may have.
    private static func choice(_ text: String, of setting: PushSetting) throws(Mistake) -> String {
        let choices = setting.choices ?? []
        guard let choice = choices.first(where: { $0.name == text }) else {
            let usable = choices.filter { $0.obstacle == nil }.map(\.name)
            let advice = nearest(to: text, among: choices.map(\.name)).map { "did you mean \"\($0)\"?" }
            throw Mistake("unknown item\(apposition(text)); \(advice ?? "write \(alternatives(usable))")")
        }
        if let obstacle = choice.obstacle { throw Mistake("\"\(text)\" cannot be used: \(obstacle)") }
        return text
    }

    /// Warns of what belongs into another setting, or is added by the kind itself: secrets would go to a place beside the one
    /// that is meant.
    private static func warn(of kind: PushKind, _ settings: [String: String], _ endpoint: String?, in section: Section)
    {
        if let endpoint, let added = kind.firstComponent, endpoint.hasSuffix(added) {
            section.diagnostics.warning(
                at: section.position(of: "endpoint"),
                "\"endpoint\" ends in \"\(added)\", which is added to it; leave that out")
        }
        for (setting, words) in kind.misplaced(in: settings) {
            section.diagnostics.warning(
                at: section.position(of: setting), "\(words), which is no part of it as a rule; leave that out")
        }
    }

    /// A name at an API: printable, on one line, without what could lead elsewhere in an address.
    private static func word(_ text: String, isPath: Bool) throws(Mistake) -> String {
        guard text.utf8.count <= 512, text.utf8.allSatisfy({ $0.isASCIIPrintable && !#""\"#.utf8.contains($0) })
        else { throw Mistake("\(quoted(text)) cannot be a name there; write one on one line, without quotes") }
        guard isPath || !text.contains("/") else {
            throw Mistake("\(quoted(text)) holds a \"/\"; write the name alone")
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.contains(".."), !parts.contains("."), !isPath || !parts.contains("") else {
            throw Mistake("\(quoted(text)) may lead elsewhere than it seems; write it without \".\", \"..\" and \"//\"")
        }
        return text
    }

    private static func address(_ text: String) throws(Mistake) -> WebAddress {
        var rest = text[...]
        while rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let address = WebAddress(String(rest)) else {
            throw Mistake(
                "\(quoted(text)) is not an address for secrets; write https://, a host and, where needed, a path "
                    + "(http:// on this machine alone)")
        }
        return address
    }

    private static func token(in section: Section) -> Setting<PushTarget.TokenPlace> {
        let credential = section.value("token_credential") { text throws(Mistake) in
            // It may be the token itself, written in the wrong place.
            guard let name = try? Scalar.credential(text), name.utf8.count <= 64 else {
                throw Mistake("the value is not a credential's name; write the name that LoadCredential= gives it")
            }
            return PushTarget.TokenPlace.credential(name)
        }
        let file = section.value("token_file") { text throws(Mistake) in
            PushTarget.TokenPlace.file(try Scalar.path(text, secret: true).description)
        }
        if section.has("token_credential"), section.has("token_file") {
            let second = max(section.position(of: "token_credential"), section.position(of: "token_file"))
            section.diagnostics.error(
                at: second, "\"token_credential\" and \"token_file\" exclude each other; keep one")
            return .wrong
        }
        return credential.or(file)
    }

    // MARK: http

    private static func customKind(in section: Section) -> PushKind? {
        let diagnostics = section.diagnostics
        let url = section.value("url", wholeAddress)
        if url.isAbsent {
            diagnostics.error(at: section.position, "\(section.owner) has no \"url\"; write where the secret is sent")
        }
        let method = section.value("method") { text throws(Mistake) in
            guard ["PUT", "POST", "PATCH"].contains(text) else {
                throw Mistake("\(quoted(text)) is not a method that sends something; write PUT, POST or PATCH")
            }
            return text
        }
        let body = section.value("body") { text throws(Mistake) in
            if let mistake = FormatRegistry.template.setting?.check(text, quoted) { throw Mistake(mistake) }
            return text
        }
        if body.isAbsent {
            diagnostics.error(
                at: section.position,
                "\(section.owner) has no \"body\"; write what is sent, with {{client_secret}} in it")
        }
        let done = section.list("done") { node in
            Setting(node, named: "an item of \"done\"", at: node.position, diagnostics) { text throws(Mistake) in
                guard text.utf8.count == 3, let status = Int(text), (200..<300).contains(status) else {
                    throw Mistake("\(quoted(text)) is not a status that can mean done; write 200 to 299")
                }
                return status
            }.value
        }
        var headers: [PushRequest.Field] = []
        if let (node, position) = section.node("headers") {
            for line in Section.lines(of: node, named: "\"headers\"", at: position, diagnostics) ?? [] {
                if let header = header(line, diagnostics) { headers.append(header) }
            }
        }
        var read: (url: WebAddress, pointer: [String])?
        if let (node, position) = section.node("read"),
            let part = Section(node, of: "\"read\"", at: position, names: Self.read, diagnostics)
        {
            let address = part.value("url", wholeAddress)
            let pointer = part.value("pointer") { text throws(Mistake) in
                guard let names = PushKind.pointer(text) else {
                    throw Mistake("\(quoted(text)) is not a JSON pointer; write it like /data/client_secret")
                }
                return names
            }
            for name in Self.read where !part.mentions(name) {
                diagnostics.error(at: position, "\"read\" has no \"\(name)\"; write where the secret is shown")
            }
            if let address = address.value, let pointer = pointer.value { read = (address, pointer) }
        }
        guard let url = url.value, let body = body.value else { return nil }
        return PushKind.http(
            url: url, method: method.value ?? "PUT", headers: headers, body: body,
            done: done.value.map { Set($0.compactMap { $0 }) } ?? [200, 201, 204], read: read)
    }

    private static func wholeAddress(_ text: String) throws(Mistake) -> WebAddress {
        guard let address = WebAddress(text, allowingQuery: true) else {
            throw Mistake(
                "\(quoted(text)) is not an address for secrets; write https://, a host and a path "
                    + "(http:// on this machine alone)")
        }
        return address
    }

    private static func header(_ line: YAMLEntry, _ diagnostics: Diagnostics) -> PushRequest.Field? {
        let name = line.key.value
        let allowed = name.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
        guard allowed, !name.isEmpty, !["host", "content-length", "transfer-encoding"].contains(name.lowercased())
        else {
            diagnostics.error(
                at: line.key.position, "\(quoted(name)) is not a header that can be set; write another one")
            return nil
        }
        return Setting(line.value, named: "header \(name)", at: line.key.position, diagnostics) {
            text throws(Mistake) in
            guard text.utf8.allSatisfy(\.isASCIIPrintable) else {
                throw Mistake("the value of header \(name) is not one line of ASCII; write it so")
            }
            let names = text.replacing("{{token}}", with: "")
            guard !names.contains("{{") else {
                throw Mistake(
                    "the value of header \(name) holds another name than {{token}}; the secret goes into \"body\"")
            }
            return PushRequest.Field(name, text)
        }.value
    }
}

extension String {
    fileprivate func replacing(_ word: String, with other: String) -> String {
        split(separator: word, omittingEmptySubsequences: false).joined(separator: other)
    }
}
