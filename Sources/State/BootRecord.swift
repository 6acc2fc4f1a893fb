internal import AppleClientSecret
internal import Failures
package import Linux
package import Model

/// The state directory's file `boot` about the wall clock. It keeps the clock at the machine's start, in seconds since the epoch.
/// It also keeps, in milliseconds after that, since when the clock has run without being set, and since when it is doubted.
///
/// The service's sandbox hides the kernel's boot id. So another start of the machine, or a change of the clock, is recognised by
/// the clock's time at the start.
package enum BootRecord: Hashable, Sendable {
    /// There is no such file, so the directory was not used before; or this user may not read it.
    case unused
    /// The clock was not set and the machine was not restarted since the last look.
    case running(ClockRun)
    /// It was set or the machine was started again, or the file cannot tell; and when that was found.
    case changed(foundAt: BootTime)

    private static let limit = 128

    private static func file(in directory: AbsolutePath) -> String { "\(directory)/boot" }

    /// The clock's time when the machine was started.
    private static var start: Int64 { Clocks.wallSeconds() - Clocks.bootMilliseconds() / 1_000 }

    /// Reads it, without creating or locking anything. Blocks.
    package init(in directory: AbsolutePath, as identity: Identity) {
        let now = BootTime(milliseconds: Clocks.bootMilliseconds())
        let found: FileContent?
        do throws(FileError) {
            found = try GuardedPath.read(Self.file(in: directory), as: identity, limit: Self.limit)
        } catch {
            self = [.directoryMissing, .permissionDenied].contains(error.code) ? .unused : .changed(foundAt: now)
            return
        }
        guard let content = found else {
            self = .unused
            return
        }
        let numbers = String(decoding: content.bytes, as: UTF8.self).split(separator: " ").map { Int64($0) }
        let (start, jump) = (Self.start, ClockRun.smallestJump.count)
        guard numbers.count > 1, let kept = numbers[0], let since = numbers[1],
            (start - jump...start + jump).contains(kept), since <= now.milliseconds
        else {
            self = .changed(foundAt: now)
            return
        }
        let doubted = numbers.count > 2 ? numbers[2] : nil
        self = .running(
            ClockRun(
                since: BootTime(milliseconds: since), doubtedSince: doubted.map { BootTime(milliseconds: $0) }))
    }

    /// How long the clock has run. One that has changed is taken as set just now.
    package var run: ClockRun {
        switch self {
        // At the program's first use, any clock that runs since the machine was started may judge existing files.
        case .unused: .fromTheStart
        case .running(let run): run
        case .changed(let moment): ClockRun(since: moment)
        }
    }

    /// Whether a daemon used the directory before since the machine was started. A clock that was set meanwhile makes it look
    /// like another start.
    package var wasUsedSinceBoot: Bool {
        if case .running = self { true } else { false }
    }

    /// Keeps the observations of the clock. After a restart, unkept observations are missing, as after the machine's start.
    static func keep(_ run: ClockRun, in directory: AbsolutePath, as identity: Identity, _ naming: TemporaryNames) {
        let numbers = [start, run.since.milliseconds, run.doubtedSince?.milliseconds].compactMap(\.self)
        let text = numbers.map(String.init).joined(separator: " ")
        try? AtomicFile.overwrite(
            file(in: directory), with: Array(text.utf8), mode: 0o600, limit: limit, as: identity, naming: naming)
    }
}
