package import Linux
package import Outputs
package import Rotation

/// A file that the writer of another user reads and writes for the daemon.
package struct UserFile: Destination {
    private let file: FileSpec
    private let user: String
    private let client: UserWriterClient
    private let naming: TemporaryNames
    private let mayChange: Bool

    /// - Parameters:
    ///   - user: whose writer writes it.
    ///   - naming: of this daemon's temporaries.
    ///   - mayChange: whether reading back removes what a killed writer left beside the file.
    package init(
        _ file: FileSpec, of user: String, by client: UserWriterClient, naming: TemporaryNames, mayChange: Bool
    ) {
        self.file = file
        self.user = user
        self.client = client
        self.naming = naming
        self.mayChange = mayChange
    }

    package func observe() throws(Failure) -> OutputContents {
        try client.observe(file, as: user, naming: mayChange ? naming : nil)
    }

    package func publish(_ secrets: [Slot: Secret], mayCreate: Bool) throws(Failure) -> OutputContents {
        try client.publish(secrets, in: file, as: user, mayCreate: mayCreate, naming: naming)
    }

    package func obstacle() -> Failure? {
        client.obstacle(to: file, as: user)
    }
}
