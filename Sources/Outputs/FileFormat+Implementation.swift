package import Formats
package import Model

extension FileFormat {
    /// The core's view of a format of the registry that needs no setting.
    package init(_ format: any OutputFormat.Type) {
        self.init(name: format.name, isShared: format.isShared)
    }

    /// The implementation that writes and reads it; nil for a name that is not in the registry.
    package var implementation: (any OutputFormat)? { FormatRegistry.named(name)?.init(parameter: parameter) }
}
