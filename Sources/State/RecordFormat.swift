internal import AppleClientSecret
internal import Digest
internal import Model

/// A client's record, or the reported states, as bytes. It is one line with the format's version and the SHA-256 digest of all
/// that follows, then a JSON object.
///
///     clientsecretd-state 1 sha256:<64 hexadecimal digits>
///
/// The digest detects a torn record or flipped bits before anything in it is used.
enum RecordFormat {
    /// Why bytes are not a usable record.
    enum ReadError: Error, Hashable {
        /// Not written by this or a newer version: torn, flipped, edited, or of another client.
        case damaged
        /// Written by a newer version of this format.
        case newer
    }

    static let version = 1

    /// The largest record that is read, in bytes: two secrets of at most 16 KiB and some thousand deliveries.
    static let sizeLimit = 1 << 20

    private static let magic = "clientsecretd-state "

    static func encode(_ record: RecordWithSecrets, of client: ClientName) -> [UInt8] {
        encode(RecordDocument(record, of: client))
    }

    static func decode(_ bytes: [UInt8], of client: ClientName) throws(ReadError) -> RecordWithSecrets {
        try decode(bytes, as: RecordDocument.self).record(of: client)
    }

    static func encode(_ document: some JSONDocument) -> [UInt8] {
        let body = document.jsonText.bytes + [UInt8(ascii: "\n")]
        return Array(header(of: body).utf8) + body
    }

    static func decode<Document: JSONDocument>(_ bytes: [UInt8], as type: Document.Type) throws(ReadError) -> Document {
        guard let end = bytes.prefix(256).firstIndex(of: UInt8(ascii: "\n")) else { throw .damaged }
        let line = String(decoding: bytes[..<end], as: UTF8.self)
        let body = Array(bytes[(end + 1)...])
        guard line + "\n" == header(of: body) else { throw isNewer(line) ? .newer : .damaged }
        do throws(JSONError) { return try Document(parsing: body) } catch { throw .damaged }
    }

    private static func header(of body: [UInt8]) -> String {
        "\(magic)\(version) sha256:\(Hex.encode(SHA256.digest(body)))\n"
    }

    private static func isNewer(_ line: String) -> Bool {
        guard line.hasPrefix(magic),
            let number = line.dropFirst(magic.count).split(separator: " ").first.flatMap({ Int($0) })
        else { return false }
        return number > version
    }
}
