/// One place where a client's secret is written.
package struct Output: Hashable, Sendable {
    package var path: AbsolutePath
    package var format: FileFormat
    /// The place of the secret in the file.
    package var slot: FileSlot
    /// The permission bits, `07777` at most; nil: those of the file that is replaced, else 0600.
    package var mode: UInt16?
    /// The group's name or number; nil: that of the file that is replaced, else the directory's default.
    package var group: String?
    /// The user that owns and writes the file; nil: the daemon's own.
    package var owner: String?

    package init(
        path: AbsolutePath, format: FileFormat, slot: FileSlot = .whole, mode: UInt16? = nil, group: String? = nil,
        owner: String? = nil
    ) {
        self.path = path
        self.format = format
        self.slot = slot
        self.mode = mode
        self.group = group
        self.owner = owner
    }
}
