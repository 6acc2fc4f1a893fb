import AppleClientSecret
import ArgumentParser
import Config
import Formats
import Model

/// Parses the values of flags; an error has the correction.
enum Flags {
    /// The value of a flag on a command line that was not parsed yet; nil if it does not have it.
    static func value(of flag: String, in words: [String]) -> String? {
        var value: String?
        for (index, word) in words.enumerated() {
            if word.hasPrefix(flag + "=") { value = String(word.dropFirst(flag.count + 1)) }
            if word == flag, index + 1 < words.count { value = words[index + 1] }
        }
        return value
    }

    static func team(_ text: String) throws -> TeamID {
        try valid(
            TeamID(text),
            "a team id is ten characters A-Z and 0-9, such as DEF123GHIJ; of Apple Ads, SEARCHADS. and an id")
    }

    static func keyID(_ text: String) throws -> KeyID {
        try valid(
            KeyID(text), "a key id is ten characters A-Z and 0-9, such as ABC123DEFG; of Apple Ads, a UUID")
    }

    static func clientID(_ text: String) throws -> ClientID {
        try valid(
            ClientID(identifier: text), "a client id has letters, digits, '.', '-' and '_', such as com.example.web")
    }

    static func clientName(_ text: String) throws -> ClientName {
        try valid(ClientName(text), "a client's name has letters, digits, '.', '-' and '_', at most 64 of them")
    }

    static func keyName(_ text: String) throws -> KeyName {
        try valid(KeyName(text), "a key's name has letters, digits, '.', '-' and '_', at most 64 of them")
    }

    /// The values of `--lifetime`.
    static func lifetimes(of kind: TokenKind) -> String {
        "--lifetime: write a lifetime like 90d, 12h or 1d12h, from 60s to \(DurationText.text(kind.rules.longest)), or max"
    }

    static func kind(_ text: String) throws -> TokenKind {
        try valid(TokenKind(text), "a kind is one of \(TokenKind.names)")
    }

    static func origin(_ text: String) throws -> WebOrigin {
        try valid(
            WebOrigin(page: text),
            "write an origin like https://www.example.com, in small letters, without a path or a slash at its end")
    }

    static func span(_ text: String) throws -> Seconds {
        try valid(DurationText.parse(text), "write a duration like 21d, 12h or 1d12h")
    }

    static func variable(_ text: String) throws -> String {
        try valid(
            VariableName.isValid(text) ? text : nil,
            "a variable's name has letters, digits and '_', such as APPLE_CLIENT_SECRET")
    }

    static func unit(_ text: String) throws -> String {
        try valid(
            UnitName.isValid(text) ? text : nil,
            UnitName.problem(ofOwn: text) ?? "write a unit as systemctl shows it, such as myapp.service")
    }

    /// A user or a group that need not exist here.
    static func account(_ text: String) throws -> String {
        try valid(
            isPlainName(text) ? text : nil, "an account's name has letters, digits, '.', '-' and '_', such as app")
    }

    static func credential(_ text: String) throws -> String {
        try valid(
            isPlainName(text) ? text : nil,
            "a credential's name has letters, digits, '.', '-' and '_', such as apple-client-secret")
    }

    /// Whether it is the same in a unit's file, tmpfiles.d, YAML and a shell.
    private static func isPlainName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 255, !"-.".utf8.contains(first) else { return false }
        return text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "._-".utf8.contains($0) }
    }

    /// The absolute path of a file.
    static func path(_ text: String) throws -> AbsolutePath {
        try valid(
            ConfigurationLoader.absolutePath(of: text),
            "this is not the path of a file; write an absolute path without '..'")
    }

    /// The key id given, else the one in the key file's name.
    static func keyID(_ given: KeyID?, of key: AbsolutePath) throws -> KeyID {
        try valid(
            given ?? KeyID(fileName: key.name),
            "the name of '\(key.name)' is not AuthKey_<KEYID>.p8; add --key-id")
    }

    static func valid<Value>(_ value: Value?, _ advice: String) throws -> Value {
        guard let value else { throw ValidationError(advice) }
        return value
    }
}

extension ArgumentHelp {
    /// The purpose of a flag or an argument.
    ///
    /// - Parameter name: how the usage shows its value.
    static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp("\(text)", valueName: name) }
}
