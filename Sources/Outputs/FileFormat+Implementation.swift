package import Formats
package import Model

extension FileFormat {
    /// What the core has to know of a format of the registry that needs no setting.
    package init(_ format: any OutputFormat.Type) {
        self.init(name: format.name, isShared: format.isShared)
    }

    /// What writes and reads it; nil for a name that is not in the registry.
    package var implementation: (any OutputFormat)? { FormatRegistry.named(name)?.init(parameter: parameter) }
}

extension OutputFormat {
    /// What the bytes hold in these slots.
    package func parse(_ bytes: [UInt8], slots: some Collection<Slot>) throws(FormatError) -> ParsedFile {
        try parse(bytes, places: slots.map(FormatPlace.init))
    }
}

extension ParsedFile {
    /// What was found in a slot that was asked for; nil where it is absent.
    package subscript(slot: Slot) -> Content? { places[FormatPlace(slot)] }
}

extension FormatPlace {
    /// Where in the file the slot is.
    init(_ slot: Slot) {
        switch slot {
        case .whole: self = .whole
        case .variable(let name): self = .variable(name)
        }
    }
}
