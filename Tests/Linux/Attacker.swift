import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// Repeats an attack on a thread of its own until it is stopped.
final class Attacker {
    private let halt = Halt()
    private let count = Turns()
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter harm: one attack, undone again: when it returns everything is in its place.
    init(_ generator: SeededGenerator, harm: @escaping @Sendable (inout SeededGenerator) throws -> Void) {
        let halt = halt
        let ended = ended
        let count = count
        Thread.detachNewThread {
            var random = generator
            while !halt.isSet {
                do { try harm(&random) } catch { Issue.record(error) }
                count.add()
            }
            ended.signal()
        }
    }

    /// How often the attack was done and undone.
    var turns: Int { count.sum }

    func stop() {
        halt.set()
        ended.wait()
    }

    /// Sleeps for fewer than `most` microseconds, so that the other side runs.
    static func pause(_ most: UInt32, _ random: inout SeededGenerator) {
        usleep(UInt32.random(in: 0..<most, using: &random))
    }
}

/// Counts the rounds of one thread for another.
private final class Turns: Sendable {
    private let done = Atomic(0)

    var sum: Int { done.load(ordering: .relaxed) }

    func add() { done.add(1, ordering: .relaxed) }
}

/// A flag that asks a thread to end.
private final class Halt: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
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
