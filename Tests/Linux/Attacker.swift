import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// Repeats an attack until it is stopped. Each is undone again: when it returns everything is in its place.
func attacking(
    _ generator: SeededGenerator, harm: @escaping @Sendable (inout SeededGenerator) throws -> Void
) -> Repetition {
    let random = Mutex(generator)
    return Repetition {
        random.withLock { random in
            do { try harm(&random) } catch { Issue.record(error) }
        }
    }
}

/// Sleeps for fewer than `most` microseconds, so that the other side runs.
func pause(_ most: UInt32, _ random: inout SeededGenerator) {
    usleep(UInt32.random(in: 0..<most, using: &random))
}

/// renameat2 with RENAME_EXCHANGE, which Swift does not import: both names exist at every moment.
@safe struct Exchange: Sendable {
    private typealias Call =
        @convention(c) @Sendable (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
    private let call: Call

    init() throws {
        guard let address = unsafe dlsym(nil, "renameat2") else { throw NothingThrown() }
        unsafe call = unsafe unsafeBitCast(address, to: Call.self)
    }

    func callAsFunction(_ one: String, _ other: String) {
        _ = unsafe call(AT_FDCWD, one, AT_FDCWD, other, 2)
    }
}
