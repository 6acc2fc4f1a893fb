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
        case textAfter
        case markers
        case beginMissing
        case endMissing
        case base64
        case bodyAlone
        case der
        /// A SEC1 key that is encrypted as old tools do.
        case encryptedSEC1
        /// A PKCS#8 key that is encrypted with this old scheme.
        case oldEncryption(String)
        /// A PKCS#8 key that is encrypted with more iterations than are carried out.
        case iterations
    }

    /// All that was found, the most telling first.
    let kinds: [Kind]
    /// Of the key in it, such as `PRIVATE KEY`.
    let label: String
    /// Whether the file holds other text than the key (``SecureBuffer/holdsText(around:)``): then it is not written again.
    let isMixed: Bool

    /// Text that no key has, and the damage that it shows.
    fileprivate static let marks: [(kind: Kind, texts: [String])] = [
        (.escapedLineBreaks, [#"\n"#]),
        (.dashes, ["\u{2010}", "\u{2011}", "\u{2012}", "\u{2013}", "\u{2014}", "\u{2015}", "\u{2212}"]),
        (
            .spaces,
            [
                "\u{A0}", "\u{2002}", "\u{2003}", "\u{2007}", "\u{2009}", "\u{200B}", "\u{202F}", "\u{2060}",
                "\u{3000}",
            ]
        ),
        (.quotes, ["\"", "'", "`", "\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}"]),
    ]

    /// A damaged key is little longer than a key. A quarter of the secure heap's room.
    static let maximumLength = 4_096

    /// The damage in `text`; nil if there is none that a command could undo.
    init?(in text: borrowing SecureBuffer) {
        if Self.isKey(text) {
            self.init(kinds: [.der], label: "PRIVATE KEY")
            return
        }
        guard text.count <= Self.maximumLength else { return nil }
        guard var letters = SecureBuffer.letters(of: text) else { return nil }
        for label in PEMBlock.keyLabels {
            let mark = Array(label.utf8.filter { $0 != 32 })
            let begins = letters.ranges(of: Array("BEGIN".utf8) + mark)
            let ends = letters.ranges(of: Array("END".utf8) + mark)
            let body: Range<Int>
            let missing: Kind?
            switch (begins.first, ends.first) {
            case (let begin?, let end?) where begins.count == 1 && begin.upperBound <= end.lowerBound:
                (body, missing) = (begin.upperBound..<end.lowerBound, nil)
            case (let begin?, nil) where begins.count == 1:
                (body, missing) = (begin.upperBound..<letters.count, .endMissing)
            case (nil, let end?) where ends.count == 1: (body, missing) = (0..<end.lowerBound, .beginMissing)
            default: continue
            }
            guard let der = PEMBlock.decode(letters, body), Self.isKey(der, labelled: label) else { continue }
            let kinds = if let missing { [missing] } else { text.damage(ofKey: label) }
            let key = (begins.first?.lowerBound ?? 0)..<(ends.first?.upperBound ?? letters.count)
            self.init(kinds: kinds, label: label, isMixed: text.holdsText(around: text.range(ofLetters: key)))
            return
        }
        if let range = text.rangeOfBase64(), let inner = text.decodedBase64() {
            let isMixed = text.holdsText(around: range)
            if let label = Self.labelOfKey(in: inner) {
                self.init(kinds: [.base64], label: label, isMixed: isMixed)
                return
            }
            if let damage = KeyFileDiagnosis(in: inner) {
                guard case .fromLetters = damage.conversion else { return nil }
                self.init(kinds: [.base64] + damage.kinds, label: damage.label, isMixed: isMixed || damage.isMixed)
                return
            }
        }
        letters.dropName(before: Array("M".utf8))
        guard let der = PEMBlock.decode(letters, 0..<letters.count), Self.isKey(der) else { return nil }
        self.init(kinds: [.bodyAlone], label: PrivateKeyInfo.isSEC1(der) ? "EC PRIVATE KEY" : "PRIVATE KEY")
    }

    init(_ kind: Kind, label: String = "ENCRYPTED PRIVATE KEY", isMixed: Bool = false) {
        self.init(kinds: [kind], label: label, isMixed: isMixed)
    }

    private init(kinds: [Kind], label: String, isMixed: Bool = false) {
        self.kinds = kinds
        self.label = label
        self.isMixed = isMixed
    }

    /// The same in a file that holds other text, too.
    var mixed: KeyFileDiagnosis { KeyFileDiagnosis(kinds: kinds, label: label, isMixed: true) }

    private static func isKey(_ der: borrowing SecureBuffer) -> Bool {
        do throws(KeyError) {
            _ = try PrivateKeyInfo(der)
            return true
        } catch {
            return false
        }
    }

    /// Of an encrypted key only the form shows.
    private static func isKey(_ der: borrowing SecureBuffer, labelled label: String) -> Bool {
        label == "ENCRYPTED PRIVATE KEY" ? DERReader.isSequence(der) : isKey(der)
    }

    /// The label of the one key in a PEM text; nil if there is none.
    private static func labelOfKey(in text: borrowing SecureBuffer) -> String? {
        do throws(KeyError) {
            let blocks = try PEMBlock.all(in: text)
            let keys = blocks.filter { PEMBlock.keyLabels.contains($0.label) }
            guard let key = keys.first, keys.count == 1, !text.hasText(after: blocks) else { return nil }
            let der = try key.decoded(from: text)
            return isKey(der, labelled: key.label) ? key.label : nil
        } catch {
            return nil
        }
    }

    /// The error for text after the last block of a file with a key of this label; nil if there is none.
    static func errorOfText(after blocks: [PEMBlock], in text: borrowing SecureBuffer, label: String) -> KeyError? {
        guard text.hasText(after: blocks), let end = blocks.last?.end else { return nil }
        if let rest = SecureBuffer.letters(of: text, from: end) {
            var isKey = rest.contains("PRIVATEKEY")
            if let der = PEMBlock.decode(rest, 0..<rest.count) { isKey = isKey || Self.isKey(der) }
            if isKey { return KeyError(.keyMalformed, "another private key follows its END line") }
        }
        let key = blocks.first { $0.label == label }?.range ?? 0..<0
        let isMixed = text.holdsText(around: key)
        return KeyFileDiagnosis(.textAfter, label: label, isMixed: isMixed).keyError
    }
}

extension SecureBuffer {
    /// The parts of the text that prevent reading a key with this label.
    func damage(ofKey label: String) -> [KeyFileDiagnosis.Kind] {
        // Of each letter's bytes all are NUL but one: a half of all, or three quarters.
        let nuls = ranges(of: [0]).count
        if nuls > count / 3 { return [nuls > count * 5 / 8 ? .utf32 : .utf16] }
        var kinds: [KeyFileDiagnosis.Kind] = []
        for (kind, marks) in KeyFileDiagnosis.marks where marks.contains(where: { contains($0) }) { kinds.append(kind) }
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
