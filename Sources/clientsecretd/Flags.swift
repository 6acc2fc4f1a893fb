import AppleClientSecret
import ArgumentParser
import Rotation
import Settings

/// The values of flags, each refused with what to write instead.
enum Flags {
    static func team(_ text: String) throws -> TeamID {
        guard let id = TeamID(text) else {
            throw ValidationError("a team id is ten characters A-Z and 0-9, such as DEF123GHIJ")
        }
        return id
    }

    static func keyID(_ text: String) throws -> KeyID {
        guard let id = KeyID(text) else {
            throw ValidationError("a key id is ten characters A-Z and 0-9, such as ABC123DEFG")
        }
        return id
    }

    static func clientID(_ text: String) throws -> ClientID {
        guard let id = ClientID(text) else {
            throw ValidationError("a client id has letters, digits, '.', '-' and '_', such as com.example.web")
        }
        return id
    }

    static func clientName(_ text: String) throws -> ClientName {
        guard let name = ClientName(text) else {
            throw ValidationError("a client's name has letters, digits, '.', '-' and '_', at most 64 of them")
        }
        return name
    }

    static func lifetime(_ text: String) throws -> Lifetime {
        guard let lifetime = Span.lifetime(text) else {
            throw ValidationError("a lifetime is written like 90d, 12h or 1d12h, from 60s to 15776700s, or max")
        }
        return lifetime
    }

    static func span(_ text: String) throws -> Seconds {
        guard let span = Span.parse(text) else {
            throw ValidationError("a duration is written like 21d, 12h or 1d12h")
        }
        return span
    }

    static func variable(_ text: String) throws -> String {
        guard VariableName.isValid(text) else {
            throw ValidationError("a variable's name has letters, digits and '_', such as APPLE_CLIENT_SECRET")
        }
        return text
    }

    static func unit(_ text: String) throws -> String {
        guard UnitName.isValid(text) else {
            throw ValidationError("a unit is written as systemctl shows it, such as myapp.service")
        }
        return text
    }

    /// A file to be used: its absolute path.
    static func path(_ text: String) throws -> AbsolutePath {
        guard let path = SettingsLoader.absolutePath(of: text) else {
            throw ValidationError("this is no path of a file; write an absolute one without '..'")
        }
        return path
    }

    /// The key id that a key file's name carries, where none is given.
    static func keyID(_ given: KeyID?, of key: AbsolutePath) throws -> KeyID {
        guard let id = given ?? KeyID(fileName: key.name) else {
            throw ValidationError(
                "'\(key.name)' is not called AuthKey_<KEYID>.p8 as Apple calls it; say --key-id as well")
        }
        return id
    }
}
