internal import AppleClientSecret
internal import Digest
internal import Failures
internal import Formats
internal import Model

/// The secrets in an output's content, and the content with other secrets. Pure bytes: no file is opened.
struct OutputMerge {
    /// The output; named in failures.
    let file: FileSpec

    /// The findings in some content.
    struct Found {
        /// Slots that the content lacks are missing.
        let slots: [FileSlot: SlotContents]
        /// Whether an environment file holds anything but our variables.
        let otherLines: Bool
        /// Whether the content is as the format writes it, or may stay unchanged.
        let isExact: Bool

        /// Whether there are neither other lines nor a slot.
        var holdsNothing: Bool { !otherLines && slots.isEmpty }
    }

    func read(_ bytes: [UInt8]) throws(Failure) -> Found {
        let format = try format()
        do throws(FormatError) {
            let parsed = try format.parse(bytes, slots: file.slots.keys)
            var slots: [FileSlot: SlotContents] = [:]
            for slot in file.slots.keys {
                switch parsed.slots[slot] {
                case .token(let token): slots[slot] = .token(Token(token))
                case .foreign, .unclear: slots[slot] = .foreign
                case nil: break
                }
            }
            return Found(slots: slots, otherLines: parsed.otherLines, isExact: parsed.isExact)
        } catch {
            throw malformed(error)
        }
    }

    /// The content with these secrets in it.
    ///
    /// - Parameter found: the findings in the content; nil for no content.
    func merged(_ secrets: [FileSlot: Secret], into bytes: [UInt8], _ found: Found?) throws(Failure) -> [UInt8] {
        // A file that reads back as this secret stays unchanged, however it is laid out.
        if !file.format.isShared, let found, found.isExact, let secret = secrets[.whole],
            case .token(let token)? = found.slots[.whole], token.fingerprint == secret.token.fingerprint
        {
            return bytes
        }
        let rendered = secrets.mapValues {
            RenderedSecret(token: $0.token.withBytes { $0 }, claims: $0.issued.claims)
        }
        let format = try format()
        do throws(FormatError) {
            return try format.render(rendered, into: bytes)
        } catch {
            throw malformed(error)
        }
    }

    /// Why no other secret could be merged into some slots of the content.
    func editFailures(in bytes: [UInt8]) throws(Failure) -> [FileSlot: Failure] {
        let format = try format()
        do throws(FormatError) {
            return try format.editErrors(in: bytes, at: file.slots.keys).mapValues(malformed)
        } catch {
            throw malformed(error)
        }
    }

    /// Whether the secret can be written there: its token has only plain characters, and the file has the slot.
    func isWritable(_ secret: Secret, in slot: FileSlot) -> Bool {
        file.slots[slot] != nil && (slot == .whole) != file.format.isShared
            && secret.token.withBytes(FormatRegistry.isPlain)
    }

    /// Whether the content seems to be another output's: in a slot of these secrets it has another client's or team's token,
    /// or no such token if the file belongs to only one output. An environment file that lacks a secret's variable seems so if it
    /// has such a token anywhere.
    func isOthers(_ found: Found, in bytes: [UInt8], than secrets: [FileSlot: Secret]) -> Bool {
        secrets.contains { slot, secret in
            switch found.slots[slot] {
            case .token(let token): Self.isOthers(token, than: secret) ?? !file.format.isShared
            case .foreign: !file.format.isShared
            case nil:
                file.format.isShared
                    && CompactJWS.candidates(in: bytes, upTo: CompactJWS.usualLength).prefix(Self.candidateLimit)
                        .contains { Self.isOthers(Token(Array(bytes[$0])), than: secret) == true }
            }
        }
    }

    private static let candidateLimit = 64

    /// Whether a token is another client's or team's; nil if it is no client secret.
    private static func isOthers(_ token: Token, than secret: Secret) -> Bool? {
        token.parsed?.form.map { form in
            !secret.issued.client.accepts(form.claims.subject) || form.claims.issuer != secret.issued.team
        }
    }

    /// The configuration names no other formats than those of the registry: another one comes from a daemon of another
    /// version than this writer.
    func format() throws(Failure) -> any OutputFormat {
        guard let format = file.format.implementation else {
            throw Failure(
                .outputMalformed, at: .path(file.path),
                detail: "the format \(file.format.name) is not known",
                remedy: .say("restart the program that writes the file: its version is not the daemon's"))
        }
        return format
    }

    private func malformed(_ formatError: FormatError) -> Failure {
        Failure(
            .outputMalformed, at: .path(file.path), detail: "line \(formatError.line): \(formatError.reason)",
            remedy: formatError.advice.map { .say($0) })
    }
}
