internal import AppleClientSecret
package import Model

/// The output formats there are. The configuration, the publisher, the offline reader and `mint --format` look them up here.
package enum FormatRegistry {
    package static let all: [any OutputFormat.Type] = [
        RawFormat.self, EnvironmentFormat.self, JSONFormat.self, TemplateFormat.self,
    ]
    /// The default if the configuration names no format.
    package static let standard: any OutputFormat.Type = RawFormat.self
    /// The format for programs that read environment variables.
    package static let environment: any OutputFormat.Type = EnvironmentFormat.self
    /// The format in which the user writes the text around the secret.
    package static let template: any OutputFormat.Type = TemplateFormat.self
    /// Read by programs that take a JSON document with the ids.
    package static let json: any OutputFormat.Type = JSONFormat.self

    /// Whether `bytes` may be a token: written into a file, they must mean nothing else there.
    package static func isPlain(_ bytes: [UInt8]) -> Bool { TokenLikeness.plain(bytes) != nil }

    /// Whether a client secret is only a part of this value, so that a new one in its place would remove the rest.
    package static func hasTextBeforeSecret(_ bytes: [UInt8]) -> Bool { TokenLikeness.isWithinText(bytes) }

    package static func named(_ name: String) -> (any OutputFormat.Type)? { all.first { $0.name == name } }

    /// The format that a file of another program seems to have; nil when it is none of these.
    package static func guess(_ bytes: [UInt8]) -> (any OutputFormat.Type)? {
        let text = TokenLikeness.trimmed(bytes)
        if TokenLikeness.isCompactJWS(text) { return RawFormat.self }
        if case .object? = try? JSONValue(text, duplicates: .lastCounts) { return JSONFormat.self }
        return EnvironmentFormat.isLike(bytes) ? EnvironmentFormat.self : nil
    }

    /// The variables of an environment file that hold a client secret, expired or not.
    static func variablesWithSecret(in bytes: [UInt8]) -> [String] {
        Set(FoundAssignment.all(in: bytes).filter { (try? CompactJWS($0.value))?.claims != nil }.map(\.name)).sorted()
    }

    /// Whether new values of these variables can be written into an environment file.
    package static func canSet(_ variables: Set<String>, in bytes: [UInt8]) -> Bool {
        let errors = try? EnvironmentFormat(parameter: nil).editErrors(in: bytes, at: variables.map(FileSlot.variable))
        return errors?.isEmpty == true
    }

    /// Whether an environment file holds anything but these variables. True if it cannot be parsed.
    package static func holdsOtherLines(than variables: Set<String>, in bytes: [UInt8]) -> Bool {
        let file = try? EnvironmentFormat(parameter: nil).parse(bytes, slots: variables.map(FileSlot.variable))
        return file?.otherLines != false
    }

    /// Whether a file may be an output's own, from before its format was changed, so that nothing is lost with it. In a template
    /// that is no longer known any text is possible.
    package static func holdsSecretOnly(_ bytes: [UInt8]) -> Bool {
        if RawFormat(parameter: nil).mayReplace(bytes) || JSONFormat(parameter: nil).mayReplace(bytes) { return true }
        let variables = variablesWithSecret(in: bytes).map(FileSlot.variable)
        guard !variables.isEmpty, guess(bytes)?.isShared == true else { return false }
        return (try? EnvironmentFormat(parameter: nil).parse(bytes, slots: variables))?.otherLines == false
    }

    /// The possible secret in a file of any format, by the first format that finds one. The standard format comes last, because
    /// it treats every file as a secret.
    package static func candidate(in bytes: [UInt8], at slot: FileSlot) throws(FormatError) -> SecretCandidate {
        var missing: SecretCandidate?
        for format in all where format.name != standard.name {
            guard let candidate = try format.candidate(in: bytes, at: slot) else { continue }
            if case .bytes = candidate { return candidate }
            missing = missing ?? candidate
        }
        if let missing { return missing }
        return try standard.candidate(in: bytes, at: slot) ?? .missing("no format has a secret there")
    }
}
