internal import CLibcrypto
internal import Failures
internal import Glibc

/// OpenSSL's secure heap: memory between guard pages that is locked against swapping and left out of core dumps.
/// Private keys and passphrases are kept nowhere else.
package enum PrivateKeyHeap {
    /// 256 kB if the process may lock as much, as systemd lets it: some 2,000 keys fit. Else 64 kB, which an unprivileged process
    /// may lock on old kernels too. A key that is being loaded takes a few kB.
    static let size: Int = {
        var limit = rlimit()
        let isKnown = unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0
        return isKnown && limit.rlim_cur >= UInt(largest) ? largest : 65_536
    }()

    private static let largest = 262_144

    /// Whether another key may be loaded. An eighth is left free: signing needs some, and without it all keys that are loaded
    /// already would be of no use.
    static var hasRoom: Bool { start() == .absent || CRYPTO_secure_used() <= size / 8 * 7 }

    /// Why no further key is loaded.
    static var full: KeyError {
        KeyError(
            .outOfMemory, "the memory for private keys is full",
            remedy: .say(
                size < largest
                    ? "raise LimitMEMLOCK= of the daemon's unit to 256K" : "divide the keys between two daemons"))
    }

    /// The smallest allocation, in bytes: OpenSSL requires a power of two, at least 16.
    private static let smallestPiece = 32

    /// How well the heap is protected.
    package enum Protection: Hashable, Sendable {
        /// Locked against swapping, guarded and left out of core dumps.
        case locked
        /// Guarded, but the process may not lock memory (RLIMIT_MEMLOCK): it could be swapped out.
        case unlocked
        /// There is no secure heap: keys are in ordinary memory, though still wiped after use.
        case absent
    }

    private static let protection: Protection =
        switch CRYPTO_secure_malloc_init(size, smallestPiece) {
        case 1: .locked
        case 2: .unlocked
        default: .absent
        }

    /// Creates the heap at the first call; later ones return the same result. Reading a key creates it too.
    @discardableResult
    package static func start() -> Protection { protection }
}
