import CLibyaml

/// One event from libyaml's parser.
struct YAMLEvent {
    enum Kind: Equatable {
        case streamStart
        case streamEnd
        case documentStart
        case documentEnd
        case alias
        case scalar(String)
        case sequenceStart
        case sequenceEnd
        case mappingStart
        case mappingEnd
    }

    let kind: Kind
    /// From 1.
    let line: Int
    /// From 1, in characters.
    let column: Int
    let hasAnchor: Bool
    let hasTag: Bool
}

/// libyaml's parser over a document in memory.
@safe struct YAMLEvents: ~Copyable {
    // The parser keeps pointers to itself and to its input, so both need stable addresses.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// Nil when memory runs out.
    init?(_ bytes: [UInt8]) {
        // libyaml counts a byte-order mark as a column of the first line, so the others would seem indented less.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        unsafe parser = .allocate(capacity: 1)
        unsafe input = .allocate(capacity: text.count)
        _ = unsafe input.initialize(from: text)
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            unsafe parser.deallocate()
            unsafe input.deallocate()
            return nil
        }
        // Without this a byte-order mark would choose UTF-16.
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe input.deallocate()
    }

    /// The next event; after the end of the stream, or after an error was thrown, it must not be called again.
    mutating func next() throws(YAMLSyntaxError) -> YAMLEvent {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw problem() }
        defer { unsafe yaml_event_delete(&event) }
        return unsafe YAMLEvent(event)
    }

    private func problem() -> YAMLSyntaxError {
        let state = unsafe parser.pointee
        func text(_ pointer: UnsafePointer<CChar>?) -> String {
            guard let pointer = unsafe pointer else { return "" }
            return unsafe String(cString: pointer)
        }
        // For bytes that are no text libyaml gives their byte offset instead of line and column.
        if unsafe state.error == YAML_READER_ERROR {
            let place = unsafe place(of: state.problem_offset)
            return unsafe YAMLSyntaxError(
                place: place, problem: text(state.problem), context: "", found: state.problem_value)
        }
        // libyaml notices an unclosed quote or bracket, or a name without a colon, further down: its beginning is of
        // more use.
        let context = unsafe text(state.context)
        let begins = ["while scanning a quoted scalar", "while scanning a simple key", "while parsing a flow "]
        let mark = unsafe begins.contains(where: context.hasPrefix) ? state.context_mark : state.problem_mark
        let problem = unsafe offset(of: state.problem_mark)
        return unsafe YAMLSyntaxError(
            place: place(of: offset(of: mark)), problem: text(state.problem), context: context,
            found: problem < input.count ? Int32(input[problem]) : -1)
    }

    /// The position of the byte at `offset`.
    private func place(of offset: Int) -> TextPlace {
        var place = TextPlace()
        for index in unsafe 0..<min(max(0, offset), input.count) { unsafe place.pass(input[index]) }
        return place
    }

    /// The byte offset of a mark. The mark's own index counts characters and, at the end of the text, is beyond it.
    private func offset(of mark: yaml_mark_t) -> Int {
        var characters = 0
        for index in unsafe 0..<input.count where unsafe input[index] & 0xC0 != 0x80 {
            if characters == mark.index { return index }
            characters += 1
        }
        return unsafe input.count
    }
}

/// A position in a text that is read byte by byte. Lines end as in libyaml: LF, CR, CR LF, NEL (U+0085), and the line
/// and paragraph separators (U+2028, U+2029).
struct TextPlace {
    /// From 1.
    private(set) var line = 1
    /// From 1, in characters.
    private(set) var column = 1
    private var last: (UInt8, UInt8) = (0, 0)

    mutating func pass(_ byte: UInt8) {
        switch (last.0, last.1, byte) {
        case (_, UInt8(ascii: "\r"), UInt8(ascii: "\n")): break
        case (_, _, UInt8(ascii: "\n")), (_, _, UInt8(ascii: "\r")), (_, 0xC2, 0x85), (0xE2, 0x80, 0xA8),
            (0xE2, 0x80, 0xA9):
            line += 1
            column = 1
        default:
            if byte & 0xC0 != 0x80 { column += 1 }
        }
        last = (last.1, byte)
    }
}

extension YAMLEvent {
    fileprivate init(_ event: yaml_event_t) {
        let type = unsafe event.type
        if type == YAML_SCALAR_EVENT {
            let scalar = unsafe event.data.scalar
            let value = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            kind = .scalar(unsafe String(decoding: value, as: UTF8.self))
            hasAnchor = unsafe scalar.anchor != nil
            hasTag = unsafe scalar.tag != nil
        } else if type == YAML_SEQUENCE_START_EVENT {
            kind = .sequenceStart
            hasAnchor = unsafe event.data.sequence_start.anchor != nil
            hasTag = unsafe event.data.sequence_start.tag != nil
        } else if type == YAML_MAPPING_START_EVENT {
            kind = .mappingStart
            hasAnchor = unsafe event.data.mapping_start.anchor != nil
            hasTag = unsafe event.data.mapping_start.tag != nil
        } else {
            kind = Self.plain(type)
            hasAnchor = false
            hasTag = false
        }
        line = unsafe Int(clamping: event.start_mark.line) + 1
        column = unsafe Int(clamping: event.start_mark.column) + 1
    }

    private static func plain(_ type: yaml_event_type_t) -> Kind {
        switch type {
        case YAML_STREAM_START_EVENT: .streamStart
        case YAML_DOCUMENT_START_EVENT: .documentStart
        case YAML_DOCUMENT_END_EVENT: .documentEnd
        case YAML_ALIAS_EVENT: .alias
        case YAML_SEQUENCE_END_EVENT: .sequenceEnd
        case YAML_MAPPING_END_EVENT: .mappingEnd
        default: .streamEnd
        }
    }
}
