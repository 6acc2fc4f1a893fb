internal import CLibcrypto

/// OpenSSL's secure heap: memory between guard pages that is locked against swapping and left out of core dumps. Private
/// keys and passphrases lie nowhere else.
package enum SecureHeap {
    /// 64 kB, as much as an unprivileged process may lock on old kernels too: a loaded key takes some 500 bytes of it,
    /// one that is being loaded a few kB.
    static let size = 65_536

    /// The smallest piece that is handed out, in bytes: OpenSSL wants a power of two, at least 16.
    private static let smallestPiece = 32

    /// How well the heap is protected.
    package enum Protection: Hashable, Sendable {
        /// Locked against swapping, guarded and left out of core dumps.
        case locked
        /// Guarded, but the process may not lock memory (RLIMIT_MEMLOCK): it could be swapped out.
        case unlocked
        /// There is no heap of its own: keys lie in ordinary memory, though still wiped after use.
        case absent
    }

    private static let protection: Protection =
        switch CRYPTO_secure_malloc_init(size, smallestPiece) {
        case 1: .locked
        case 2: .unlocked
        default: .absent
        }

    /// Makes the heap; the first call counts, later ones only say how it went. Reading a key makes it too.
    @discardableResult
    package static func start() -> Protection { protection }
}
