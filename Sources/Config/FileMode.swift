/// A file's permission bits, as octal digits.
package enum FileMode {
    /// The value of the setting `mode`: permission bits in octal notation.
    static func read(_ text: String) throws(ValueError) -> UInt16 {
        guard let mode = bits(text) else {
            throw ValueError("\(quoted(text)) is not a mode; write it in octal, such as 0640")
        }
        guard mode <= 0o777 else {
            throw ValueError(
                "mode \(Self.text(mode)) holds more than permissions; write \(Self.text(mode & 0o777))")
        }
        guard mode & 0o400 != 0 else {
            throw ValueError(
                "mode \(Self.text(mode)) does not let the owner read the file, but the daemon must read it; "
                    + "write \(Self.text(mode | 0o400))")
        }
        return mode
    }

    /// The bits written in `text`: octal digits, with or without `0` or `0o` before them; nil for anything else and
    /// above `07777`.
    static func bits(_ text: String) -> UInt16? {
        let digits = text.hasPrefix("0o") ? text.dropFirst(2) : text[...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...55).contains($0) }),
            let mode = UInt16(digits, radix: 8), mode <= 0o7777
        else { return nil }
        return mode
    }

    /// The bits as four octal digits.
    package static func text(_ mode: UInt16) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
