/// Builds a tree from a YAML document and refuses constructs that no configuration needs. These are anchors, aliases, tags,
/// second documents and keys that are not plain text.
struct YAMLReader: ~Copyable {
    /// In bytes: a configuration of a thousand clients has about a fifth of this.
    static let maximumSize = 1 << 20
    static let tooLarge = "larger than 1 MiB; move clients to files of the .d directory"
    /// The documented settings go six deep; the reader recurses once for each level.
    static let maximumDepth = 16
    /// Bounds the memory for a document of nothing but commas.
    static let maximumNodes = 100_000

    private let file: String
    private let diagnostics: Diagnostics
    private var events: YAMLEvents
    private var nodes = 0

    /// The document's tree. Nil when it is empty or, with an error, when it cannot be read to its end.
    static func read(_ bytes: [UInt8], file: String, diagnostics: Diagnostics) -> YAMLNode? {
        let start = Position(file: file)
        guard bytes.count <= maximumSize else {
            diagnostics.error(at: start, tooLarge)
            return nil
        }
        guard let events = YAMLEvents(bytes) else {
            diagnostics.error(at: start, "out of memory while reading the file; try again")
            return nil
        }
        var reader = YAMLReader(file: file, diagnostics: diagnostics, events: events)
        do {
            return try reader.document()
        } catch {
            diagnostics.error(at: error.position, error.words)
            return nil
        }
    }

    private struct Failure: Error {
        let position: Position
        let words: String
    }

    private init(file: String, diagnostics: Diagnostics, events: consuming YAMLEvents) {
        self.file = file
        self.diagnostics = diagnostics
        self.events = events
    }

    private mutating func next() throws(Failure) -> YAMLEvent {
        do {
            return try events.next()
        } catch {
            let place = error.place
            throw Failure(position: Position(file: file, line: place.line, column: place.column), words: error.words)
        }
    }

    private func position(of event: YAMLEvent) -> Position {
        Position(file: file, line: event.line, column: event.column)
    }

    private mutating func document() throws(Failure) -> YAMLNode? {
        var root: YAMLNode?
        while true {
            let event = try next()
            switch event.kind {
            case .streamStart, .documentEnd: continue
            case .streamEnd: return root
            case .documentStart:
                if root != nil {
                    throw Failure(
                        position: position(of: event),
                        words: #"a second document begins; remove "---" and write everything in one"#)
                }
                root = try node(try next(), depth: 1)
            default: continue
            }
        }
    }

    private mutating func node(_ event: YAMLEvent, depth: Int) throws(Failure) -> YAMLNode {
        let position = position(of: event)
        nodes += 1
        if nodes > Self.maximumNodes {
            throw Failure(
                position: position,
                words: "more than \(Self.maximumNodes) values; move clients to files of the .d directory")
        }
        if depth > Self.maximumDepth {
            throw Failure(
                position: position, words: "nested more than \(Self.maximumDepth) deep; no setting needs that")
        }
        if event.hasAnchor {
            diagnostics.error(at: position, #"anchors ("&") are not used here; write shared settings under "defaults""#)
        }
        if event.hasTag {
            diagnostics.error(
                at: position, #"tags ("!") are not used here; put a value that begins with "!" in quotes"#)
        }
        switch event.kind {
        case .scalar(let text):
            if text.utf8.contains(0) {
                diagnostics.error(at: position, "a NUL character; no setting may hold one")
                return YAMLNode(position: position, content: .refused)
            }
            return YAMLNode(position: position, content: .scalar(text))
        case .sequenceStart:
            return YAMLNode(position: position, content: .sequence(try sequence(depth: depth)))
        case .mappingStart:
            return YAMLNode(position: position, content: try mapping(depth: depth))
        default:
            diagnostics.error(
                at: position, #"aliases ("*") are not used here; put a value that begins with "*" in quotes"#)
            return YAMLNode(position: position, content: .refused)
        }
    }

    private mutating func sequence(depth: Int) throws(Failure) -> [YAMLNode] {
        var items: [YAMLNode] = []
        while true {
            let event = try next()
            if event.kind == .sequenceEnd { return items }
            items.append(try node(event, depth: depth + 1))
        }
    }

    /// Refused as a whole when no entry is valid, as with a `{{ template }}` that was not filled in.
    private mutating func mapping(depth: Int) throws(Failure) -> YAMLNode.Content {
        var entries: [YAMLEntry] = []
        var refused = false
        var lines: [String: Int] = [:]
        while true {
            let event = try next()
            if event.kind == .mappingEnd { return refused && entries.isEmpty ? .refused : .mapping(entries) }
            let key = try node(event, depth: depth + 1)
            let value = try node(try next(), depth: depth + 1)
            guard case .scalar(let name) = key.content else {
                refused = true
                if case .refused = key.content { continue }
                diagnostics.error(
                    at: key.position, #"a name must be plain text; put a value that begins with "{" or "[" in quotes"#)
                continue
            }
            if let line = lines[name] {
                diagnostics.error(
                    at: key.position, "\(quoted(name)) is already in line \(line); keep one")
                continue
            }
            lines[name] = key.position.line
            entries.append(YAMLEntry(key: Located(name, at: key.position), value: value))
        }
    }
}
