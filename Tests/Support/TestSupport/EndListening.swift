import Glibc

/// Closes a listening socket so that its address refuses connections at once: a process that is just being started may
/// still have a copy of the descriptor.
package func endListening(_ listener: Int32) {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
}
