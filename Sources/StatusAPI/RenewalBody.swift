import AppleClientSecret
import FoundationEssentials
import NIOHTTP1
import Rotation

/// The body of a `POST` that renews.
struct RenewalBody: Decodable {
    var clients: [String]?
    var dueWithin: Seconds?
    var deliverOnly: Bool?
    var skipVerify: Bool?

    private struct Key: CodingKey, Hashable {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            return nil
        }

        static let clients = Key(stringValue: "clients")
        static let dueWithin = Key(stringValue: "due_within")
        static let deliverOnly = Key(stringValue: "deliver_only")
        static let skipVerify = Key(stringValue: "skip_verify")
        static let all = [clients, dueWithin, deliverOnly, skipVerify]
    }

    init() {}

    /// Decodes `json`; an empty body has no members.
    init(json: [UInt8]) throws(Problem) {
        guard !json.isEmpty else { return }
        do {
            self = try JSONDecoder().decode(RenewalBody.self, from: Data(json))
        } catch let error as DecodingError {
            throw Problem(.badRequest, "the body is not a renewal: \(error.words)")
        } catch {
            throw Problem(.badRequest, "the body is not a renewal: it is not JSON")
        }
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        // Ignoring a misspelt member would renew more than was asked for. `allKeys` is in no order: of several unknown
        // members, the same one is always named.
        let strangers = members.allKeys.filter { !Key.all.contains($0) }
        if let stranger = strangers.min(by: { $0.stringValue < $1.stringValue }) {
            let known = Key.all.map(\.stringValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                forKey: stranger, in: members, debugDescription: "there is no such member; there are \(known)")
        }
        clients = try members.decodeIfPresent([String].self, forKey: .clients)
        deliverOnly = try members.decodeIfPresent(Bool.self, forKey: .deliverOnly)
        skipVerify = try members.decodeIfPresent(Bool.self, forKey: .skipVerify)
        guard members.contains(.dueWithin), try !members.decodeNil(forKey: .dueWithin) else { return }
        let count = try? members.decode(Int64.self, forKey: .dueWithin)
        let text = try? members.decode(String.self, forKey: .dueWithin)
        guard let span = count ?? text.flatMap({ Span.parse($0)?.count }), span >= 0 else {
            throw DecodingError.dataCorruptedError(
                forKey: .dueWithin, in: members,
                debugDescription: "expected seconds as a number, or a span such as \"21d\"")
        }
        dueWithin = Seconds(span)
    }
}
