package import Rotation

/// A configuration file's content and the names it goes by.
package struct SourceFile: Sendable {
    /// As messages call it: the way the user named it.
    package let name: String
    package let path: AbsolutePath
    /// Where it lies when links on the way are followed.
    package let realPath: AbsolutePath
    package let bytes: [UInt8]

    package init(name: String, path: AbsolutePath, realPath: AbsolutePath? = nil, bytes: [UInt8]) {
        self.name = name
        self.path = path
        self.realPath = realPath ?? path
        self.bytes = bytes
    }
}
