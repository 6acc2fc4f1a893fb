internal import AppleClientSecret
internal import Failures
internal import Model

/// Common damage to a key file on its way from Apple to here, found in a text that holds no readable key.
///
/// Only reversible damage counts: the command's result was read as a key here, in secure memory.
struct KeyFileDiagnosis: Hashable {
    enum Kind: Hashable {
        case utf16
        case utf32
        case escapedLineBreaks
        case missingLineBreaks
        case dashes
        case spaces
        /// Ordinary ones in a BEGIN or END line, if that has none, or one.
        case plainSpaces
        case quotes
        case assignment
        case percent
        case textAround
        case markers
        case beginMissing
        case endMissing
        case base64
        case base64Twice
        case bodyAlone
        case der
        /// The same of an encrypted PKCS#8 key.
        case encryptedDER
        /// A SEC1 key that is encrypted as old tools do.
        case encryptedSEC1
        /// A PKCS#8 key that is encrypted with this old scheme.
        case oldEncryption(String)
    }

    /// All that was found, the most telling first.
    let kinds: [Kind]
    /// Of the key in it, such as `PRIVATE KEY`.
    let label: String

    /// A damaged key is little longer than a key. A quarter of the secure heap's room.
    private static let maximumLength = 4_096

    private static let labels = ["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY"]

    /// The damage in `text`; nil if there is none that a command could undo.
    init?(in text: borrowing SecureBuffer) {
        if text.count > 0, text[0] == DERReader.Tag.sequence {
            if Self.isKey(text) {
                self.init(kinds: [.der], label: "PRIVATE KEY")
                return
            }
            if PrivateKeyInfo.isEncrypted(text) {
                self.init(kinds: [.encryptedDER], label: "ENCRYPTED PRIVATE KEY")
                return
            }
        }
        guard text.count <= Self.maximumLength else { return nil }
        guard var letters = SecureBuffer.letters(of: text) else { return nil }
        for label in Self.labels {
            let mark = Array(label.utf8.filter { $0 != 32 })
            let begins = letters.ranges(of: Array("BEGIN".utf8) + mark)
            guard begins.count == 1, let begin = begins.first,
                let end = letters.ranges(of: Array("END".utf8) + mark).first, begin.upperBound <= end.lowerBound,
                let der = PEMBlock.decode(letters, begin.upperBound..<end.lowerBound),
                label == "ENCRYPTED PRIVATE KEY" ? Self.isSequence(der) : Self.isKey(der)
            else { continue }
            self.init(kinds: text.damage(ofKey: label), label: label)
            return
        }
        for label in Self.labels {
            let mark = Array(label.utf8.filter { $0 != 32 })
            let begins = letters.ranges(of: Array("BEGIN".utf8) + mark)
            let ends = letters.ranges(of: Array("END".utf8) + mark)
            let (body, kind): (Range<Int>, Kind)
            switch (begins.first, ends.first) {
            case (let begin?, nil) where begins.count == 1:
                (body, kind) = (begin.upperBound..<letters.count, .endMissing)
            case (nil, let end?) where ends.count == 1: (body, kind) = (0..<end.lowerBound, .beginMissing)
            default: continue
            }
            guard let der = PEMBlock.decode(letters, body),
                label == "ENCRYPTED PRIVATE KEY" ? Self.isSequence(der) : Self.isKey(der)
            else { continue }
            self.init(kinds: [kind], label: label)
            return
        }
        for (start, kind) in [("LS0tLS1", Kind.base64), ("TFMwdExT", .base64Twice)] {
            letters.dropName(before: Array(start.utf8))
            guard letters.starts(with: Array(start.utf8), at: 0) else { continue }
            guard var inner = PEMBlock.decode(letters, 0..<letters.count, isPadded: false) else { return nil }
            if kind == .base64Twice {
                guard let text = PEMBlock.decode(inner, 0..<inner.count, isPadded: false) else { return nil }
                inner = text
            }
            guard Self.holdsKey(inner) else { return nil }
            self.init(kinds: [kind], label: "PRIVATE KEY")
            return
        }
        letters.dropName(before: Array("M".utf8))
        guard let der = PEMBlock.decode(letters, 0..<letters.count), Self.isKey(der) else { return nil }
        self.init(kinds: [.bodyAlone], label: PrivateKeyInfo.isSEC1(der) ? "EC PRIVATE KEY" : "PRIVATE KEY")
    }

    init(_ kind: Kind) {
        self.init(kinds: [kind], label: "ENCRYPTED PRIVATE KEY")
    }

    private init(kinds: [Kind], label: String) {
        self.kinds = kinds
        self.label = label
    }

    /// Blocks that a file has instead of a key, by their labels without blanks.
    private static let otherLabels = [
        "RSAPRIVATEKEY", "PUBLICKEY", "CERTIFICATE", "CERTIFICATEREQUEST", "NEWCERTIFICATEREQUEST",
    ]

    /// The kind of a file that holds no key from Apple, in PEM or DER and despite damage; nil if that is unknown.
    static func wrongKind(in text: borrowing SecureBuffer) -> KeyError? {
        let isDER = text.count > 0 && text[0] == DERReader.Tag.sequence
        if isDER, let error = PrivateKeyInfo.otherKind(text) { return error }
        guard text.count <= maximumLength, var letters = SecureBuffer.letters(of: text) else { return nil }
        for start in ["LS0tLS1", "TFMwdExT"] where letters.starts(with: Array(start.utf8), at: 0) {
            guard let inner = PEMBlock.decode(letters, 0..<letters.count, isPadded: false) else { return nil }
            return wrongKind(in: inner)
        }
        let keys = letters.ranges(of: Array("BEGINPRIVATEKEY".utf8)).count
        guard keys < 2 else { return KeyError(.keyMalformed, "it holds \(keys) private keys") }
        for label in labels.map({ $0.filter { $0 != " " } }) + otherLabels {
            guard let begin = letters.ranges(of: Array("BEGIN\(label)".utf8)).first else { continue }
            if let end = letters.ranges(of: Array("END\(label)".utf8)).first, begin.upperBound <= end.lowerBound,
                let der = PEMBlock.decode(letters, begin.upperBound..<end.lowerBound),
                let error = PrivateKeyInfo.otherKind(der)
            {
                return error
            }
            // A key that cannot be decoded counts more than other text.
            if !otherLabels.contains(label) { return nil }
        }
        // The label decides if the rest is damaged.
        if letters.contains("BEGINRSAPRIVATEKEY") { return KeyError(.keyIsRSA) }
        if letters.contains("BEGINPUBLICKEY") { return KeyError(.keyIsPublic) }
        if letters.contains("CERTIFICATEREQUEST") { return PrivateKeyInfo.certificateRequest }
        if letters.contains("BEGINCERTIFICATE") { return KeyError(.keyIsCertificate) }
        letters.dropName(before: Array("M".utf8))
        guard let der = PEMBlock.decode(letters, 0..<letters.count) else { return nil }
        return PrivateKeyInfo.otherKind(der)
    }

    private static func isKey(_ der: borrowing SecureBuffer) -> Bool {
        do throws(KeyError) {
            _ = try PrivateKeyInfo(der)
            return true
        } catch {
            return false
        }
    }

    private static func isSequence(_ der: borrowing SecureBuffer) -> Bool {
        var reader = DERReader(0..<der.count)
        return reader.take(DERReader.Tag.sequence, in: der) != nil && reader.isAtEnd
    }

    private static func holdsKey(_ text: borrowing SecureBuffer) -> Bool {
        do throws(KeyError) {
            let keys = try PEMBlock.all(in: text).filter { labels.contains($0.label) }
            guard let key = keys.first, keys.count == 1 else { return false }
            let der = try key.decoded(from: text)
            return key.label == "ENCRYPTED PRIVATE KEY" ? isSequence(der) : isKey(der)
        } catch {
            return false
        }
    }
}

// MARK: Messages

extension KeyFileDiagnosis {
    /// The error for a text that has this damage.
    var keyError: KeyError {
        let words = kinds.compactMap(\.words)
        return KeyError(code, words.isEmpty ? nil : words.joined(separator: ", and "), damage: self)
    }

    private var code: Failure.Code {
        switch kinds.first {
        case .utf16, .utf32, .base64, .base64Twice, .bodyAlone, .der, .encryptedDER: .keyNotPEM
        case .encryptedSEC1: .keyIsSEC1
        default: .keyMalformed
        }
    }

    /// How to undo it in a key file at `path`.
    func remedy(at path: String) -> Remedy {
        let command = ShellCommand.rewriteKey(path, by: conversion)
        // `check --fix` has no terminal for a passphrase.
        return conversion.asksForPassphrase
            ? .say("write it again, with its passphrase; \(conversion.cleanup(of: path))", see: command)
            : .say("write it again from a copy; \(conversion.cleanup(of: path))", run: command)
    }

    private var conversion: KeyConversion {
        switch kinds.first {
        case .der: .fromDER
        case .encryptedDER: .fromEncryptedDER
        case .encryptedSEC1: .fromEncryptedSEC1
        case .oldEncryption: .fromOldEncryption
        case .base64: .fromBase64
        case .base64Twice: .fromBase64Twice
        default: .fromLetters(label: label)
        }
    }
}

extension SecureBuffer {
    /// The parts of the text that prevent reading a key with this label.
    func damage(ofKey label: String) -> [KeyFileDiagnosis.Kind] {
        let nul = ranges(of: [0])
        // Of each letter's two or four bytes all are NUL but one.
        if nul.count > count * 5 / 8 { return [.utf32] }
        if nul.count > count / 3 { return [.utf16] }
        var kinds: [KeyFileDiagnosis.Kind] = []
        if contains(#"\n"#) { kinds.append(.escapedLineBreaks) }
        // U+2010 to U+2015 and the minus sign.
        if (0x90...0x95).contains(where: { contains([0xE2, 0x80, $0]) }) || contains("\u{2212}") {
            kinds.append(.dashes)
        }
        if ["\u{A0}", "\u{2002}", "\u{2003}", "\u{2007}", "\u{2009}", "\u{200B}", "\u{202F}", "\u{2060}", "\u{3000}"]
            .contains(where: { contains($0) })
        {
            kinds.append(.spaces)
        }
        if ["\"", "'", "`", "\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}"].contains(where: { contains($0) }) {
            kinds.append(.quotes)
        }
        if let begin = ranges(of: Array("BEGIN".utf8)).first?.lowerBound,
            (0..<begin).contains(where: { self[$0] == UInt8(ascii: "=") })
        {
            kinds.append(.assignment)
        }
        if kinds.isEmpty, hasLine("-----BEGIN \(label)-----"), hasLine("-----END \(label)-----") {
            kinds.append(.plainSpaces)
        }
        if kinds.isEmpty, contains("-%") { kinds.append(.percent) }
        if kinds.isEmpty, ranges(of: [0x0A]).count < 2 { kinds.append(.missingLineBreaks) }
        if kinds.isEmpty {
            let ends = ranges(of: Array("-----END ".utf8))
            kinds.append(ends.isEmpty ? .markers : .textAround)
        }
        return kinds
    }

    /// Whether there is a line that differs from this one in blanks only.
    private func hasLine(_ text: String) -> Bool {
        let wanted = text.utf8.filter { $0 != 32 }
        var position = 0
        while position < count {
            let line = line(from: position)
            position = line.next
            var matched = 0
            for index in line.start..<line.end where !self[index].isASCIISpace {
                guard matched < wanted.count, self[index] == wanted[matched] else {
                    matched = -1
                    break
                }
                matched += 1
            }
            if matched == wanted.count { return true }
        }
        return false
    }
}

extension KeyFileDiagnosis.Kind {
    /// Nil if the code says it all.
    fileprivate var words: String? {
        switch self {
        case .utf16: "it is UTF-16"
        case .utf32: "it is UTF-32"
        case .escapedLineBreaks: #"its line breaks are written as \n"#
        case .missingLineBreaks: "its line breaks are missing"
        case .dashes: "it has typographic dashes instead of \"-\""
        case .spaces: "it has special spaces, such as no-break spaces"
        case .plainSpaces: "it has spaces in its BEGIN or END line where none belong"
        case .quotes: "it is in quotes"
        case .assignment: "it begins with a name and \"=\""
        case .percent: "a \"%\" follows the last line, which zsh shows for a missing line break"
        case .textAround: "other text is on its BEGIN or END line"
        case .markers: "its BEGIN or END line is damaged"
        case .beginMissing: "its BEGIN line is missing"
        case .endMissing: "its END line is missing"
        case .base64: "it is the base64 of a PEM file"
        case .base64Twice: "it is the base64 of the base64 of a PEM file"
        case .bodyAlone: "its BEGIN and END lines are missing"
        case .der: "it is DER"
        case .encryptedDER: "it is DER, of an encrypted PKCS#8 key"
        case .encryptedSEC1: nil
        case .oldEncryption(let name): "it is encrypted with \(name), which OpenSSL 3 does not open by itself"
        }
    }
}
