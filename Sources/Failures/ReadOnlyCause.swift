/// The cause that makes a directory read-only.
package enum ReadOnlyCause: Hashable, Sendable {
    /// The sandbox of the unit that writes there: outside it, the directory is writable.
    case sandbox
    /// The mount at this path.
    case mount(String)
    /// The file system mounted at this path, as a whole.
    case fileSystem(String)
}
