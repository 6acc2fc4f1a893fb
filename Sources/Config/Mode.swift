/// Permission bits in octal notation.
package enum Mode {
    /// The bits written in `text`: octal digits, with or without `0` or `0o` before them; nil for anything else and
    /// above `07777`.
    package static func parse(_ text: some StringProtocol) -> UInt16? {
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

    static func read(_ text: String) throws(Mistake) -> UInt16 {
        guard let mode = parse(text) else {
            throw Mistake("\(quoted(text)) is not a mode; write it in octal, such as 0640")
        }
        guard mode <= 0o777 else {
            throw Mistake("mode \(Mode.text(mode)) holds more than permissions; write \(Mode.text(mode & 0o777))")
        }
        guard mode & 0o400 != 0 else {
            throw Mistake(
                "mode \(Mode.text(mode)) keeps its owner from reading the file, who checks it; "
                    + "write \(Mode.text(mode | 0o400))")
        }
        return mode
    }
}
