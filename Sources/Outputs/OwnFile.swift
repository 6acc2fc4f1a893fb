package import Model

/// A file that the daemon writes itself.
package struct OwnFile: Destination {
    private let file: FileSpec
    private let publisher: Publisher
    private let sweptDirectories: SweptDirectories?

    /// - Parameter sweptDirectories: removes files that a killed daemon left next to the file; nil: nothing may be changed.
    package init(_ file: FileSpec, by publisher: Publisher, sweeping sweptDirectories: SweptDirectories?) {
        self.file = file
        self.publisher = publisher
        self.sweptDirectories = sweptDirectories
    }

    package func observe() throws(Failure) -> OutputContents {
        // Only here: every file is read back before it is first written.
        sweptDirectories?.sweep(beside: file.path)
        return try publisher.observe(file)
    }

    package func look() throws(Failure) -> [FileSlot: SlotContents] { try publisher.look(at: file) }

    package func publish(_ secrets: [FileSlot: Secret], mayCreate: Bool, overWriters: Bool) throws(Failure)
        -> OutputContents
    {
        try publisher.publish(secrets, in: file, mayCreate: mayCreate, overWriters: overWriters)
    }

    package func problem(mayCreate: Bool) -> Failure? {
        publisher.problem(with: file, mayCreate: mayCreate)
    }
}
