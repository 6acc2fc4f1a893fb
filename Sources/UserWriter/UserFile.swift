internal import AppleClientSecret
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
        guard let sweptDirectories else { return try observe(sweeping: false) }
        return try sweptDirectories.first(beside: file.path, of: user) { isFirst throws(Failure) in
            try observe(sweeping: isFirst)
        }
    }

    /// - Parameter isFirst: whether the temporaries of a killed writer are removed; else nothing may be changed.
    private func observe(sweeping isFirst: Bool) throws(Failure) -> OutputContents {
        var request = WriterRequest(.observe, file)
        if isFirst { request.tag = naming.tag }
        return try client.contents(of: file, after: request, as: user)
    }

    package func look() throws(Failure) -> [FileSlot: SlotContents] {
        try client.contents(of: file, after: WriterRequest(.look, file), as: user).slots
    }

    package func publish(_ secrets: [FileSlot: Secret], mayCreate: Bool, overWriters: Bool) throws(Failure)
        -> OutputContents
    {
        // After a writer that failed, its successor sweeps before it writes.
        try sweptDirectories?.first(beside: file.path, of: user) { isFirst throws(Failure) in
            if isFirst { _ = try observe(sweeping: true) }
        }
        var request = WriterRequest(.publish, file, secrets: secrets.mapValues(\.token))
        request.mayCreate = mayCreate
        request.overWriters = overWriters
        request.tag = naming.tag
        do throws(Failure) {
            return try client.contents(of: file, after: request, as: user)
        } catch {
            sweptDirectories?.forget(beside: file.path, of: user)
            throw error
        }
    }

    package func problem(mayCreate: Bool) -> Failure? {
        var request = WriterRequest(.examine, file)
        request.mayCreate = mayCreate
        return client.problem(with: file, after: request, as: user)
    }
}
