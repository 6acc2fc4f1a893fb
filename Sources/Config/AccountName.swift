import AppleClientSecret
import Linux

/// A user's or group's name or number.
enum AccountName {
    /// The user whose writer writes an output: the name of its unit has this one in it.
    static func user(_ text: String) throws(ValueError) -> String {
        // Directories such as Active Directory have such names; systemd would take the escaped one for the user's.
        guard UnitTemplate.isInstance(text) else {
            throw ValueError(
                "\(quoted(text)) cannot be a part of a unit's name, as the writer's has to be; write the user's number")
        }
        return try read(text, kind: "user")
    }

    static func group(_ text: String) throws(ValueError) -> String { try read(text, kind: "group") }

    private static func read(_ text: String, kind: String) throws(ValueError) -> String {
        let isNumber = text.utf8.allSatisfy(\.isASCIIDigit)
        // useradd(8) allows 32 characters, and a directory's name and realm are longer. 4294967295 is no id, because the kernel
        // reads it as "do not change".
        let valid =
            isNumber
            ? UInt32(text).map { $0 != .max } ?? false
            : text.utf8.count <= (text.contains("@") ? 128 : 32) && text.utf8.first != UInt8(ascii: "-")
                && text.utf8.first != UInt8(ascii: ".")
                && text.utf8.first != UInt8(ascii: "@")
                && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_-.$@".utf8.contains($0) }
        guard valid else { throw ValueError("\(quoted(text)) is not a \(kind); write its name or number") }
        return text
    }
}
