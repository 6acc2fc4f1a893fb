/// How a file is written: the name of a format of the module Formats, and the facts that the core needs.
package struct FileFormat: Hashable, Sendable {
    package let name: String
    /// The configuration's setting for the whole file, such as a template; nil if the format has no such setting.
    package let parameter: String?
    /// Whether several outputs may share the file, and lines that others have written.
    package let isShared: Bool

    package init(name: String, parameter: String? = nil, isShared: Bool = false) {
        self.name = name
        self.parameter = parameter
        self.isShared = isShared
    }
}
