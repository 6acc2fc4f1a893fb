/// A file's whole content, and the file's status then.
package struct FileContent: Hashable, Sendable {
    package let bytes: [UInt8]
    package let status: FileStatus
    /// The real path: links are followed.
    package let path: String
}
