import AppleClientSecret
import Failures
import Linux
import Model
import Push

/// The target that `init --push` writes: by flags, or by answers at a terminal.
struct InitTarget {
    let kind: PushKind
    let name: TargetName
    /// By their names; a list has commas.
    var settings: [String: String]
    /// The place of the token, or of the new file with it.
    var tokenFile: AbsolutePath?
    /// The typed token, if its file does not exist yet.
    var token: String?
    /// Whether a file for the token is written if there is none.
    private var isWritten = true
    /// Whether a flag names the token's file.
    private let isTokenNamed: Bool

    init(kind: PushKind, name: TargetName, settings: [String: String], tokenFile: AbsolutePath? = nil) {
        self.kind = kind
        self.name = name
        self.settings = settings
        self.tokenFile = tokenFile
        isTokenNamed = tokenFile != nil
    }

    /// The settings that a target of this kind can have.
    var names: [String] {
        kind.settings.map(\.name) + (kind.deployedBy == nil ? [] : ["redeploy"]) + ["endpoint", "ca_file"]
    }

    /// Whether the token is a file's. In the kind's own cluster there may be one already, which a file takes precedence over.
    var needsToken: Bool { kind.own == nil || settings["endpoint"] != nil || isTokenNamed }

    var needsEndpoint: Bool { kind.endpoint == nil && settings["endpoint"] == nil }

    /// Has a file for the token in this directory, unless a flag names one.
    ///
    /// - Parameter isWritten: whether files are written at all.
    mutating func keepToken(in directory: AbsolutePath, isWritten: Bool) {
        self.isWritten = isWritten
        tokenFile = tokenFile ?? AbsolutePath("\(directory)/\(name)-token")
    }

    /// Takes the variable that the application reads now, if the target has one and no flag names it.
    mutating func adopt(variable: String) {
        guard names.contains("variable"), settings["variable"] == nil else { return }
        settings["variable"] = variable
    }

    /// The file that gets the typed token.
    var typedToken: RequiredLines? {
        guard let token, let tokenFile else { return nil }
        return RequiredLines(path: tokenFile.description, lines: token + "\n", isSecret: true)
    }

    /// Whether a person has to type the token.
    var isTokenMissing: Bool {
        isWritten && needsToken && token == nil
            && tokenFile.map { FileStatus.following($0.description) == nil } != false
    }

    /// The flags that are still needed.
    var missing: [String] {
        let required = kind.settings.filter { $0.standard == nil && settings[$0.name] == nil }.map(\.name)
        return (required + (needsEndpoint ? ["endpoint"] : [])).map { "--set \($0)=..." }
            + (isTokenMissing ? ["--token-file"] : [])
    }

    /// The lines below `targets`.
    ///
    /// - Parameter isOfService: whether systemd hands over the token.
    func entry(isOfService: Bool) -> TargetEntry {
        var lines = ["kind: \(kind.name)"]
        for name in names {
            guard let value = settings[name] else { continue }
            let isList = kind.settings.contains { $0.name == name && $0.isList }
            let words = isList ? value.split(separator: ",").map(String.init) : [value]
            let text = words.map(YAMLText.scalar).joined(separator: ", ")
            lines.append("\(name): \(isList ? "[\(text)]" : text)")
        }
        guard needsToken, let tokenFile else { return TargetEntry(name: name, lines: lines) }
        guard isOfService else {
            lines.append("token_file: \(YAMLText.scalar(tokenFile.description))")
            return TargetEntry(name: name, lines: lines)
        }
        lines.append("token_credential: \(kind.name)-token")
        return TargetEntry(
            name: name, lines: lines,
            credential: UnitFileLine.loadCredential("\(kind.name)-token", from: tokenFile.description))
    }
}

/// A target in its written form.
struct TargetEntry: Equatable {
    let name: TargetName
    /// Its settings.
    let lines: [String]
    /// The line in the unit that pushes by which systemd hands over the token; nil if it does not.
    var credential: String?

    /// The section `targets` with this one.
    var text: String { "targets:\n" + indented }

    /// The same lines below `targets:`.
    var indented: String {
        (["  \(YAMLText.scalar(name.description)):"] + lines.map { "    " + $0 }).joined(separator: "\n") + "\n"
    }
}
