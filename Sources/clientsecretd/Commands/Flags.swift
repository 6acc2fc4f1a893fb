import AppleClientSecret
import ArgumentParser
import Config
import Formats
import Rotation

/// Parses the values of flags; an error says what to write instead.
enum Flags {
    static func team(_ text: String) throws -> TeamID {
        try valid(TeamID(text), "a team id is ten characters A-Z and 0-9, such as DEF123GHIJ")
    }

    static func keyID(_ text: String) throws -> KeyID {
        try valid(KeyID(text), "a key id is ten characters A-Z and 0-9, such as ABC123DEFG")
    }

    static func clientID(_ text: String) throws -> ClientID {
        try valid(ClientID(text), "a client id has letters, digits, '.', '-' and '_', such as com.example.web")
    }

    static func clientName(_ text: String) throws -> ClientName {
        try valid(ClientName(text), "a client's name has letters, digits, '.', '-' and '_', at most 64 of them")
    }

    static func lifetime(_ text: String) throws -> Lifetime {
        try valid(Span.lifetime(text), "a lifetime is written like 90d, 12h or 1d12h, from 60s to 15776700s, or max")
    }

    static func span(_ text: String) throws -> Seconds {
        try valid(Span.parse(text), "a duration is written like 21d, 12h or 1d12h")
    }

    static func variable(_ text: String) throws -> String {
        try valid(
            VariableName.isValid(text) ? text : nil,
            "a variable's name has letters, digits and '_', such as APPLE_CLIENT_SECRET")
    }

    static func unit(_ text: String) throws -> String {
        try valid(UnitName.isValid(text) ? text : nil, "a unit is written as systemctl shows it, such as myapp.service")
    }

    /// The absolute path of a file.
    static func path(_ text: String) throws -> AbsolutePath {
        try valid(
            SettingsLoader.absolutePath(of: text), "this is no path of a file; write an absolute one without '..'")
    }

    /// The key id given, else the one in the key file's name.
    static func keyID(_ given: KeyID?, of key: AbsolutePath) throws -> KeyID {
        try valid(
            given ?? KeyID(fileName: key.name),
            "'\(key.name)' is not called AuthKey_<KEYID>.p8 as Apple calls it; say --key-id as well")
    }

    private static func valid<Value>(_ value: Value?, _ advice: String) throws -> Value {
        guard let value else { throw ValidationError(advice) }
        return value
    }
}
