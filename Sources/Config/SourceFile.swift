package import Model

/// A configuration file's content, name and paths.
package struct SourceFile: Hashable, Sendable {
    /// The file as the user named it, shown in messages.
    package let name: String
    package let path: AbsolutePath
    /// The path with all links resolved.
    package let realPath: AbsolutePath
    package let bytes: [UInt8]

    package init(name: String, path: AbsolutePath, realPath: AbsolutePath? = nil, bytes: [UInt8]) {
        self.name = name
        self.path = path
        self.realPath = realPath ?? path
        self.bytes = bytes
    }
}
