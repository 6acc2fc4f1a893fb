internal import CLibcrypto

/// OpenSSL's secure heap: memory between guard pages that is locked against swapping and left out of core dumps.
/// Private keys and passphrases are kept nowhere else.
package enum SecureHeap {
    /// 64 kB, which an unprivileged process may lock on old kernels too: a loaded key takes some 500 bytes of it, one
    /// that is being loaded a few kB.
    static let size = 65_536

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
