internal import Failures

/// One look at the processes of this machine. Any user can start many processes and choose the size of each. So one look has
/// limits on how much it reads and how long it takes.
package final class ProcessLook {
    private static let processLimit = 50_000
    private static let anyIsCut = QuietMutex(false)

    /// In bytes.
    private var room: Int
    private let end: Deadline
    /// Whether something was left out.
    package private(set) var isCut = false

    package init(bytes: Int = 64 << 20, milliseconds: Int64 = 5_000) {
        room = bytes
        end = Deadline(in: milliseconds)
    }

    /// Why not everything was looked at; nil if no look of this process left anything out.
    package static var shortfall: String? {
        anyIsCut.withLock { $0 } ? "there is too much to read about the processes of this machine" : nil
    }

    /// Whether there is room and time for more.
    package var goesOn: Bool {
        if room <= 0 || end.hasPassed { leaveOut() }
        return room > 0 && !end.hasPassed
    }

    /// Notes that something is left out.
    package func leaveOut() {
        isCut = true
        Self.anyIsCut.withLock { $0 = true }
    }

    /// The numbers of all processes, sorted, but these first: the most important come before those that others have started.
    package func processes(first: Set<Int32> = []) -> [Int32] {
        let names = ForeignFile.names(in: "/proc", limit: Self.processLimit)
        // Two more are the directory itself and the one above it.
        if names.count + 2 >= Self.processLimit { leaveOut() }
        let numbers = names.compactMap { Int32($0) }.sorted()
        return numbers.filter(first.contains) + numbers.filter { !first.contains($0) }
    }

    /// The content of a file that tells something about a process; nil if it cannot be read or is left out.
    ///
    /// - Parameter isSkippedIfLonger: whether a file of more than `limit` bytes is none that is looked for.
    package func read(_ path: String, limit: Int, isSkippedIfLonger: Bool = false) -> [UInt8]? {
        guard goesOn else { return nil }
        let most = min(limit, room)
        do {
            let bytes = try ForeignFile.contents(of: path, limit: most)
            room -= bytes.count
            return bytes
        } catch {
            guard error.code == .fileTooLarge, !isSkippedIfLonger || most < limit else { return nil }
            room -= most
            leaveOut()
            return nil
        }
    }
}
