import AppleClientSecret
import Failures
import Linux
import Model

@testable import Store

/// etcd's answers, values and watch streams: what is taken over was asked for and can be written again, and a stream means
/// the same however it comes in pieces.
enum StoreTarget {
    private static let keys = ["/clientsecretd/v1/secret/A", "/clientsecretd/v1/secret/B"].map { Array($0.utf8) }

    static func run(_ bytes: [UInt8]) throws {
        try checkAnswers(HTTPAnswer(status: 200, body: bytes, date: nil))
        try checkValue(bytes)
        let whole = receive(bytes, by: max(bytes.count, 1))
        for size in [1, 97] where bytes.count <= 256 * size {
            try promise(receive(bytes, by: size) == whole, "it depends on the pieces")
        }
    }

    private static func checkAnswers(_ answer: HTTPAnswer) throws {
        if let token = EtcdAnswer.token(answer) {
            let isUsable = !token.isEmpty && token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            try promise(isUsable, "a token that no header may have")
        }
        if let (entries, revision) = EtcdAnswer.entries(answer, of: keys) {
            try promise(revision >= 0, "the store's revision is \(revision)")
            try check(entries, answer)
        }
        if let (entries, hasMore) = EtcdAnswer.page(answer) {
            try promise(!hasMore || !entries.isEmpty, "an empty page that is not the last")
            for (key, entry) in entries { try check(entry, of: key, answer) }
        }
        switch EtcdAnswer.put(answer, at: keys) {
        case .done(let revision): try promise(revision >= 0, "a put at revision \(revision)")
        case .found(let entries): try check(entries, answer)
        case nil: break
        }
    }

    private static func check(_ entries: [StoreEntry], _ answer: HTTPAnswer) throws {
        try promise(entries.count == keys.count, "\(entries.count) entries")
        for (entry, key) in zip(entries, keys) { try check(entry, of: key, answer) }
    }

    private static func check(_ entry: StoreEntry, of key: [UInt8], _ answer: HTTPAnswer) throws {
        let value: [UInt8]
        let revision: Int64
        switch entry {
        case .missing, .forbidden: return
        case .tooLong(let at): (value, revision) = ([], at)
        case .value(let bytes, let at): (value, revision) = (bytes, at)
        }
        try promise(revision > 0, "a key that exists has revision \(revision)")
        let texts = try texts(JSONValue(answer.body))
        try promise(texts.contains(Base64.encode(key)), "a value of a key that the answer does not name")
        try promise(
            value.isEmpty || texts.contains { Base64.decode($0) == value },
            "a value that is not in the answer")
    }

    private static func texts(_ json: JSONValue) -> Set<String> {
        switch json {
        case .string(let text): [text]
        case .array(let elements): elements.reduce(into: []) { $0.formUnion(texts($1)) }
        case .object(let members): members.values.reduce(into: []) { $0.formUnion(texts($1)) }
        default: []
        }
    }

    private static func checkValue(_ bytes: [UInt8]) throws {
        if let token = StoreValue.decode(bytes), let value = StoreValue.encode(token) {
            let again = try known(StoreValue.decode(value))
            try promise(
                again.withBytes { one in token.withBytes { one == $0 } }, "a secret that is not read back")
        }
        try checkReadBack(Rollout.self, bytes)
        if let key = StoreKey(bytes, below: "/clientsecretd") {
            if let machine = key.machine { try Shown.check(machine.prefix(39).description) }
            try promise(key.bytes(below: "/clientsecretd") == bytes, "two keys of one thing")
        }
    }

    private struct Received: Equatable {
        var state = EtcdWatchResponse.State.quiet
        var isComplete = false
    }

    /// What a stream of two keys means in the end.
    private static func receive(_ bytes: [UInt8], by size: Int) -> Received {
        var stream = EtcdWatchResponse(keys: 2)
        var lines = LineBuffer()
        var received = Received()
        for start in stride(from: 0, to: bytes.count, by: size) {
            lines.append(bytes[start..<min(start + size, bytes.count)])
            while let line = lines.next() {
                switch stream.receive(line: line) {
                case .quiet: break
                case .changed: received.state = .changed
                case .ended: return Received(state: .ended)
                }
            }
        }
        received.isComplete = stream.isComplete
        return received
    }
}
