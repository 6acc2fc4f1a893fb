import CLibyaml

/// What libyaml's parser says of a document, one piece at a time.
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
    // The parser keeps pointers to itself and to its input, so that both need addresses that stay.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// Nil when there is no memory.
    init?(_ bytes: [UInt8]) {
        unsafe parser = .allocate(capacity: 1)
        unsafe input = .allocate(capacity: bytes.count)
        _ = unsafe input.initialize(from: bytes)
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            unsafe parser.deallocate()
            unsafe input.deallocate()
            return nil
        }
        // Without this a byte-order mark would choose UTF-16.
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
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
        if unsafe state.error == YAML_READER_ERROR {
            let before = unsafe input.prefix(max(0, state.problem_offset))
            let place = unsafe YAMLSyntaxError.place(after: before)
            return unsafe YAMLSyntaxError(
                line: place.line, column: place.column, problem: text(state.problem), context: "",
                found: state.problem_value)
        }
        // A quote or bracket that is never closed is found at the end of the file: where it opens is of more use.
        let context = unsafe text(state.context)
        let opens = context.hasPrefix("while scanning a quoted scalar") || context.hasPrefix("while parsing a flow ")
        let mark = unsafe opens ? state.context_mark : state.problem_mark
        let offending = unsafe state.problem_mark.index < input.count ? Int32(character(at: state.problem_mark)) : -1
        return unsafe YAMLSyntaxError(
            line: Int(clamping: mark.line) + 1, column: Int(clamping: mark.column) + 1, problem: text(state.problem),
            context: context, found: offending)
    }

    /// The byte at a mark, whose own index counts characters.
    private func character(at mark: yaml_mark_t) -> UInt8 {
        var line = 0
        var column = 0
        for index in unsafe 0..<input.count {
            let byte = unsafe input[index]
            if line == Int(clamping: mark.line) && column == Int(clamping: mark.column) { return byte }
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 0
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return 0
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
