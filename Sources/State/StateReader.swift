internal import AppleClientSecret
internal import Failures
package import Linux
package import Model

/// Reads the files in a state directory. Nothing is written, created or locked: programs other than the daemon may read them too,
/// and so may a daemon that cannot write there.
package final class StateReader: Sendable {
    let path: AbsolutePath
    let identity: Identity
    /// The outputs in all records when a client with a new output last asked; nil once they may know more. Read once, because a
    /// thousand clients may have new outputs.
    private let history = QuietMutex<OutputHistory?>(nil)

    package init(in path: AbsolutePath, as identity: Identity) {
        self.path = path
        self.identity = identity
    }

    /// A client's record, with its outputs from other clients' records; nil when nothing is known. Blocks, as all of these do.
    package func recall(
        _ client: ClientName, publishedAt places: Set<OutputPlace> = []
    ) throws(Failure) -> RecordWithSecrets? {
        OutputHistory.complete(try read(client), at: places) {
            history.withLock { known in
                if known == nil { known = readHistory() }
                return known ?? OutputHistory()
            }
        }
    }

    /// Has all records read again for the next client with a new output.
    func forgetHistory() { history.withLock { $0 = nil } }

    /// The path of a client's record.
    func file(of client: ClientName) -> String { "\(path)/clients/\(client).state" }

    var reportedStatesFile: String { "\(path)/reported-states.state" }

    /// The clients that have a record.
    func clients() -> [ClientName] {
        let names = (try? TrustedFile.names(in: path.description + "/clients", ending: ".state", as: identity)) ?? []
        return names.compactMap { ClientName($0.dropLast(".state".count)) }
    }

    /// The knowledge of all records about outputs. An unreadable one adds nothing.
    private func readHistory() -> OutputHistory {
        clients().reduce(into: OutputHistory()) { history, client in
            if let kept = try? read(client) { history.add(kept.record) }
        }
    }

    /// A client's record; nil when there is none.
    func read(_ client: ClientName) throws(Failure) -> RecordWithSecrets? {
        let file = file(of: client)
        let place = AbsolutePath(file).map(Failure.Place.path) ?? .client(client)
        return try read(file, at: place) { bytes throws(RecordFormat.ReadError) in
            try RecordFormat.decode(bytes, of: client)
        }
    }

    /// The reported states; nil when none are kept.
    package func readReportedStates() throws(Failure) -> ReportedStates? {
        try read(reportedStatesFile, at: .path(path), detail: "reported-states.state") {
            bytes throws(RecordFormat.ReadError) in
            try RecordFormat.decode(bytes, as: ReportedStates.self)
        }
    }

    /// What identifies this daemon among others with the same host name; nil when there is nothing that does.
    package func readInstance() throws(Failure) -> String? {
        let bytes = try bytes(of: instanceFile, at: .path(path))
        return bytes.map { String(decoding: $0, as: UTF8.self) }.flatMap { Hex.isEncoded($0, digits: 32) ? $0 : nil }
    }

    var instanceFile: String { "\(path)/instance" }

    /// The names of temporaries with the directory's tag; nil when it has none.
    package func readNaming() throws(FileError) -> TemporaryNames? {
        let content = try GuardedPath.read(tagFile, as: identity, limit: Self.tagLimit)
        return content.flatMap { TemporaryNames(tag: String(decoding: $0.bytes, as: UTF8.self)) }
    }

    var tagFile: String { "\(path)/temporaries" }

    static let tagLimit = 64

    /// The record of the clock.
    package func readClock() -> BootRecord { BootRecord(in: path, as: identity) }

    private func read<Value>(
        _ file: String, at place: Failure.Place, detail: String? = nil,
        _ decode: ([UInt8]) throws(RecordFormat.ReadError) -> Value
    ) throws(Failure) -> Value? {
        guard let bytes = try bytes(of: file, at: place) else { return nil }
        do throws(RecordFormat.ReadError) { return try decode(bytes) } catch {
            throw Failure(error == .newer ? .stateNewer : .stateDamaged, at: place, detail: detail)
        }
    }

    /// The content of a file in the directory; nil when it is missing.
    ///
    /// - Parameter place: named when the file is damaged.
    func bytes(of file: String, at place: Failure.Place) throws(Failure) -> [UInt8]? {
        let content: FileContent?
        do throws(FileError) {
            content = try GuardedPath.read(file, as: identity, limit: RecordFormat.sizeLimit)
        } catch {
            if error.code == .directoryMissing { return nil }
            if error.code == .fileTooLarge || error.code == .notARegularFile {
                throw Failure(.stateDamaged, at: place, detail: error.detail)
            }
            throw StateDirectory.unusable(error, path, for: identity.user)
        }
        guard let content else { return nil }
        // A record that others could have written is not trusted.
        guard identity.trusts(content.status.owner), content.status.mode & 0o022 == 0 else {
            throw Failure(.stateDamaged, at: place, detail: "others may have written it")
        }
        return content.bytes
    }
}
