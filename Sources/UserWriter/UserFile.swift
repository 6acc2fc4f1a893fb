package import Linux
package import Model
package import Outputs

/// A file that the writer of another user reads and writes for the daemon.
package struct UserFile: Destination {
    private let file: FileSpec
    private let user: String
    private let client: UserWriterClient
    private let naming: TemporaryNames
    private let sweptDirectories: SweptDirectories?

    /// - Parameters:
    ///   - user: whose writer writes it.
    ///   - naming: of this daemon's temporaries.
    ///   - sweptDirectories: the directories from which a killed writer's files were removed; nil: nothing may be changed.
    package init(
        _ file: FileSpec, of user: String, by client: UserWriterClient, naming: TemporaryNames,
        sweeping sweptDirectories: SweptDirectories?
    ) {
        self.file = file
        self.user = user
        self.client = client
        self.naming = naming
        self.sweptDirectories = sweptDirectories
    }

    package func observe() throws(Failure) -> OutputContents {
        guard let sweptDirectories else { return try client.observe(file, as: user, naming: nil) }
        return try sweptDirectories.first(beside: file.path, of: user) { isFirst throws(Failure) in
            try client.observe(file, as: user, naming: isFirst ? naming : nil)
        }
    }

    package func look() throws(Failure) -> [FileSlot: SlotContents] { try client.look(at: file, as: user) }

    package func publish(_ secrets: [FileSlot: Secret], mayCreate: Bool, overWriters: Bool) throws(Failure)
        -> OutputContents
    {
        // After a writer that failed, its successor sweeps before it writes.
        try sweptDirectories?.first(beside: file.path, of: user) { isFirst throws(Failure) in
            if isFirst { _ = try client.observe(file, as: user, naming: naming) }
        }
        do throws(Failure) {
            return try client.publish(
                secrets, in: file, as: user, mayCreate: mayCreate, overWriters: overWriters, naming: naming)
        } catch {
            sweptDirectories?.forget(beside: file.path, of: user)
            throw error
        }
    }

    package func problem(mayCreate: Bool) -> Failure? {
        client.problem(with: file, as: user, mayCreate: mayCreate)
    }
}
