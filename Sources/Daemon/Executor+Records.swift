import AppleClientSecret
import Failures
import Formats
import Keys
import Linux
import Outputs
import Rotation

extension Executor {
    func recall(_ client: ClientName) throws(Failure) -> Outcome {
        do throws(Failure) {
            return remember(try state.get().recall(client))
        } catch {
            // The record was set aside: a retry finds nothing, and what is lost can be read from the outputs.
            guard error.code == .stateDamaged || error.code == .stateNewer else { throw error }
            log.warn("\(client): \(error.sentence)")
            return .recalled(Record())
        }
    }

    /// Caches a record's secret and public key.
    func remember(_ record: ClientRecord?) -> Outcome {
        guard let record else { return .recalled(Record()) }
        if let current = record.current {
            if let spki = current.signerKey, let key = PublicKey(spki: spki) { keyring.remember(key) }
            secretCache.put(Secret(token: current.token, issued: current.issued))
        }
        return .recalled(record.record)
    }

    func keep(_ record: Record, of client: ClientName) throws(Failure) -> Outcome {
        let state = try state.get()
        var current: KeptSecret?
        if let issued = record.current {
            guard let secret = secretCache.secret(issued.fingerprint) else { throw lost(issued) }
            current = KeptSecret(
                token: secret.token, issued: issued, signerKey: issued.signer.flatMap(keyring.publicKey)?.spki)
        }
        try state.keep(ClientRecord(record, current: current), of: client)
        return .kept(record)
    }

    func recallReportedStates() throws(Failure) -> Outcome {
        do throws(Failure) {
            return .recalledReportedStates(try state.get().recallReportedStates() ?? ReportedStates())
        } catch {
            guard error.code == .stateDamaged || error.code == .stateNewer else { throw error }
            log.warn(error.sentence)
            return .recalledReportedStates(ReportedStates())
        }
    }

    func keep(_ told: ReportedStates) throws(Failure) -> Outcome {
        try state.get().keep(told)
        return .keptReportedStates(told)
    }

    func tidy(
        _ clients: Set<ClientName>, _ moment: WallTime, _ former: Set<OutputPlace>, _ outputs: Set<OutputPlace>
    ) -> Outcome {
        // Where there is no state directory there is nothing to tidy.
        let ofOthers = (try? state.get())?.tidy(keeping: clients, expiredBefore: moment) ?? []
        return .tidied(orphans(among: former.union(ofOthers), besides: outputs))
    }

    /// The places in `former` that are no outputs and hold a secret, or cannot be read. Blocks.
    func orphans(among former: Set<OutputPlace>, besides outputs: Set<OutputPlace>) -> [OrphanedOutput] {
        let left = Dictionary(grouping: former.subtracting(outputs), by: \.path)
        guard !left.isEmpty else { return [] }
        let inUse = Set(outputs.map(\.path)).compactMap { FileStatus.following($0.description) }
        return left.sorted { $0.key < $1.key }.flatMap { path, places -> [OrphanedOutput] in
            // The same file may still be an output by another path.
            if let file = FileStatus.following(path.description), !outputs.contains(where: { $0.path == path }),
                inUse.contains(where: { $0.isSameFile(as: file) })
            {
                return []
            }
            return places.sorted().compactMap { orphan($0, beside: places) }
        }
    }

    private func orphan(_ place: OutputPlace, beside places: [OutputPlace]) -> OrphanedOutput? {
        // In which of the formats it was written is not kept.
        for format in Formats.all where format.isShared == (place.variable != nil) {
            let slots = places.filter { ($0.variable == nil) == (place.variable == nil) }.map(\.slot)
            let spec = FileSpec(
                path: place.path, format: FileFormat(format), mode: nil, group: nil, owner: nil,
                slots: Dictionary(uniqueKeysWithValues: slots.compactMap { slot in Self.nobody.map { (slot, $0) } }))
            do throws(Failure) {
                let contents = try publisher.observe(spec)
                guard case .token(let token)? = contents.slots[place.slot],
                    let issued = TokenReader.read(token, keys: [])
                else { continue }
                return OrphanedOutput(place: place, expiresAt: issued.expiresAt, isShared: contents.otherLines)
            } catch {
                return error.code.mayHideSecret
                    ? OrphanedOutput(place: place, expiresAt: nil, isShared: place.variable != nil) : nil
            }
        }
        return nil
    }

    /// Stands in for the client, which former outputs do not name.
    private static let nobody = ClientName("-")
}

extension Failure.Code {
    /// Whether others may find a secret in what could not be read.
    fileprivate var mayHideSecret: Bool {
        switch self {
        case .isDirectory, .notADirectory, .notARegularFile, .directoryMissing, .fileTooLarge: false
        default: true
        }
    }
}
