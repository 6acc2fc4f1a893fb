package import AppleClientSecret
internal import Failures
internal import Formats
internal import Linux
package import Model

/// Finds secrets in former outputs: files that the configuration no longer names, or names for something else.
package struct OrphanSearch: Sendable {
    private let publisher: Publisher
    private let expiry: @Sendable (Token) -> WallTime?

    /// - Parameter expiry: when a token expires, whatever key signed it; nil for one that is no client secret.
    package init(by publisher: Publisher, expiry: @escaping @Sendable (Token) -> WallTime?) {
        self.publisher = publisher
        self.expiry = expiry
    }

    /// The places in `former` that are no outputs and hold a secret, or cannot be read. Changes nothing. Blocks.
    package func orphans(among former: Set<OutputPlace>, excluding outputs: Set<OutputPlace>) -> [OrphanedOutput] {
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
            let current = outputs.filter { $0.path == path }
            let isInUse = !current.isEmpty
            return places.sorted().compactMap { place in
                if place.variable == nil, isInUse, holdsNothingElse(than: current) { return nil }
                return orphan(place, beside: places, isInUse: isInUse)
            }
        }
    }

    /// Whether a file holds the variables that are its outputs now, and nothing else.
    private func holdsNothingElse(than outputs: Set<OutputPlace>) -> Bool {
        guard let path = outputs.first?.path, let format = FormatRegistry.all.first(where: { $0.isShared }) else {
            return false
        }
        let slots = outputs.filter { $0.variable != nil }.map(\.slot)
        let contents = try? publisher.observe(spec(path, format, slots))
        return contents.map { !$0.otherLines } ?? false
    }

    /// How a former output is read, in one of the formats in which it may have been written.
    private func spec(_ path: AbsolutePath, _ format: any OutputFormat.Type, _ slots: [FileSlot]) -> FileSpec {
        FileSpec(
            path: path, format: FileFormat(format), mode: nil, group: nil, owner: nil,
            slots: Dictionary(
                uniqueKeysWithValues: slots.compactMap { slot in Self.placeholderClient.map { (slot, $0) } }))
    }

    /// - Parameter isInUse: whether the file is an output for something else, so that it must not be removed.
    private func orphan(_ place: OutputPlace, beside places: [OutputPlace], isInUse: Bool) -> OrphanedOutput? {
        // In which of the formats it was written is not kept.
        for format in FormatRegistry.all where format.isShared == (place.variable != nil) {
            let slots = places.filter { ($0.variable == nil) == (place.variable == nil) }.map(\.slot)
            do throws(Failure) {
                let contents = try publisher.observe(spec(place.path, format, slots))
                if case .foreign? = contents.slots[place.slot], let failure = contents.editFailures[place.slot] {
                    throw failure
                }
                guard case .token(let token)? = contents.slots[place.slot], let expiresAt = expiry(token) else {
                    continue
                }
                return OrphanedOutput(
                    place: place, expiresAt: expiresAt,
                    isShared: isInUse || place.variable != nil && contents.otherLines)
            } catch {
                // Others may find a secret in a file that cannot be read here.
                return error.code.traits.contains(.holdsNoSecret)
                    ? nil : OrphanedOutput(place: place, expiresAt: nil, isShared: isInUse || place.variable != nil)
            }
        }
        return nil
    }

    /// Replaces the client's name, because former outputs name no client.
    private static let placeholderClient = ClientName("-")
}
