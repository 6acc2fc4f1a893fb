/// How long the user writers and their client wait for one another, in milliseconds.
package enum UserWriterTimeouts {
    /// For systemd to start the writer, and for its disk. It is longer than the 30 s after which a file is reported as not
    /// responding. It is not longer than a local failure waits for its next attempt.
    static let request: Int64 = 60_000
    /// How long a writer that dropped a request is not asked again, for any file: systemd starts one for each request.
    static let rest: Int64 = 1_000
    /// How long a writer waits for the request, and then for its answer to be read: the daemon, on the same machine, has its
    /// request ready and waits for the answer.
    static let connection: Int64 = 10_000
    /// Without a request for this long a writer exits; systemd starts it again at the next one.
    static let idle: Int64 = 30_000
    /// How long a writer serves until it ends at the first pause. A file that could not be written for its user's groups is then
    /// written at the second attempt after they have changed, at the latest.
    package static let life: Int64 = 20_000
    /// A pause between requests: long enough that none comes while the writer ends, because systemd would close it.
    static let pause: Int64 = 1_000
}
