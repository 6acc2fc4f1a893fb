internal import Failures
internal import Model

/// What an administrator reads about a damaged key file, and how to undo the damage.
extension KeyFileDiagnosis {
    /// The error for a text that has this damage.
    var keyError: KeyError {
        let words = kinds.compactMap(\.words)
        return KeyError(code, words.isEmpty ? nil : words.joined(separator: ", and "), damage: self)
    }

    private var code: Failure.Code {
        switch kinds.first {
        case .utf16, .utf32, .base64, .bodyAlone, .der: .keyNotPEM
        case .encryptedSEC1: .keyIsSEC1
        default: .keyMalformed
        }
    }

    /// How to undo it in a key file at `path`. A file with other text in it may be another program's: it stays as it is.
    func remedy(at path: String) -> Remedy {
        if isMixed {
            return .say(
                "the file holds other text, too, and stays as it is: write the key into a file of its own, and name that one",
                see: .extractKey(path, by: conversion))
        }
        let command = ShellCommand.rewriteKey(path, by: conversion)
        // `check --fix` has no terminal for a passphrase.
        return conversion.asksForPassphrase
            ? .say("write it again, with its passphrase; \(conversion.cleanup(of: path))", see: command)
            : .say("write it again from a copy; \(conversion.cleanup(of: path))", run: command)
    }

    var conversion: KeyConversion {
        switch kinds.first {
        case .der: .fromDER
        case .encryptedSEC1: .fromEncryptedSEC1
        case .oldEncryption: .fromOldEncryption
        case .iterations: .fewerIterations
        case .base64: .fromBase64(label: kinds.count > 1 ? label : nil)
        default: .fromLetters(label: label)
        }
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
        case .textAfter: "other text follows its END line"
        case .markers: "its BEGIN or END line is damaged"
        case .beginMissing: "its BEGIN line is missing"
        case .endMissing: "its END line is missing"
        case .base64: "it is the base64 of a PEM file"
        case .bodyAlone: "its BEGIN and END lines are missing"
        case .der: "it is DER"
        case .encryptedSEC1, .iterations: nil
        case .oldEncryption(let name): "it is encrypted with \(name), which OpenSSL 3 does not open by itself"
        }
    }
}
