extension Unicode.Scalar {
    /// Whether this is a control, format or separator character: a terminal acts on it, or it changes how its neighbours look.
    package var isUnprintable: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
