import AppleClientSecret
import Foundation
import Linux
import Model
import TestSupport

@testable import Keys

/// A text is a key that signs what its public half verifies, or fails in plain words. Bytes that begin like DER are put
/// into PEM under each label first: in base64 the fuzzer would find little.
enum KeyTarget {
    static let passphrase = "a passphrase"

    static func run(_ bytes: [UInt8]) throws {
        guard bytes.first == 0x30 else { return try read(bytes) }
        let lines = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        for label in ["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PUBLIC KEY"] {
            try read(Array("-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----\n".utf8))
        }
    }

    private static func read(_ text: [UInt8]) throws {
        let place = Failure.Place.named("the key")
        let phrase = try Content(Array(passphrase.utf8))
        let file = try Content(text)
        var signing: SigningKey?
        var verifying: PublicKey?
        do throws(Failure) {
            signing = try SigningKey(
                descriptor: file.descriptor, place: place,
                passphrase: try Passphrase(descriptor: phrase.descriptor, place: place))
        } catch {
            try Shown.check(error.message)
        }
        file.rewind()
        phrase.rewind()
        do throws(Failure) {
            verifying = try PublicKey(
                descriptor: file.descriptor, place: place,
                passphrase: try Passphrase(descriptor: phrase.descriptor, place: place))
        } catch {
            try Shown.check(error.message)
        }
        guard let verifying else { return try promise(signing == nil, "a private key without a public half") }
        try promise(PublicKey(spki: verifying.spki)?.print == verifying.print, "a public half that is not read again")
        guard let signing else { return }
        try promise(signing.print == verifying.print, "two keys in one text")
        let minted = try signing.mint(Claims.sample())
        try promise(
            TokenReader.read(minted.token, keys: [verifying]) == minted.issued, "a secret that is not taken over")
    }
}

/// Bytes behind a descriptor, as a key file is read.
private final class Content {
    let descriptor: Int32

    init(_ bytes: [UInt8]) throws {
        var template = Array("/tmp/clientsecretd-fuzz.XXXXXX".utf8CString)
        descriptor = unsafe mkstemp(&template)
        try promise(descriptor >= 0, "no temporary file")
        unsafe unlink(template)
        try promise(unsafe write(descriptor, bytes, bytes.count) == bytes.count, "no room for a temporary file")
        rewind()
    }

    func rewind() { lseek(descriptor, 0, SEEK_SET) }

    deinit { close(descriptor) }
}
