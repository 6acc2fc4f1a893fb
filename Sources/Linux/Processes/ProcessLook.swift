internal import Failures

/// One look at the processes of this machine. Any user can start many processes and choose the size of each. So one look has
/// limits on how much it reads and how long it takes.
package final class ProcessLook {
    private static let processLimit = 50_000
    private static let anyIsCut = QuietMutex(false)
    private static let anyIsForbidden = QuietMutex(false)

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

    /// Why not every process was looked into; nil if no look of this process was refused. A user other than root may only look
    /// into its own processes.
    package static var restriction: String? {
        anyIsForbidden.withLock { $0 } ? "this user may not look into every process of this machine" : nil
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
        try? contents(of: path, limit: limit, isSkippedIfLonger: isSkippedIfLonger)
    }

    /// The same, or why it cannot be read; nil if it is left out.
    private func contents(of path: String, limit: Int, isSkippedIfLonger: Bool) throws(FileError) -> [UInt8]? {
        guard goesOn else { return nil }
        let most = min(limit, room)
        do throws(FileError) {
            let bytes = try ForeignFile.contents(of: path, limit: most)
            room -= bytes.count
            return bytes
        } catch {
            if error.code == .permissionDenied { Self.noteForbidden() }
            guard error.code == .fileTooLarge, !isSkippedIfLonger || most < limit else { throw error }
            room -= most
            leaveOut()
            return nil
        }
    }

    /// Whether this user may not read a file that tells something about a process. What it tells is then not known.
    package func isForbidden(_ path: String) -> Bool {
        do throws(FileError) {
            _ = try contents(of: path, limit: 1, isSkippedIfLonger: true)
            return false
        } catch {
            return error.code == .permissionDenied
        }
    }

    /// The text of a link that tells something about a process; nil if it cannot be read.
    package func link(_ path: String) -> String? {
        do throws(FileError) {
            return try ForeignFile.text(ofLink: path)
        } catch {
            if error.code == .permissionDenied { Self.noteForbidden() }
            return nil
        }
    }

    private static func noteForbidden() { anyIsForbidden.withLock { $0 = true } }
}
