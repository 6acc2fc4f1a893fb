package import AppleClientSecret

/// Which version this is.
package enum Version {
    package static let current = "0.1.0"

    /// When this version was built, 2026-11-21T00:00:00Z: a clock that shows an earlier time is wrong. A constant of the
    /// source and not of the build, so that one source always builds the same binary.
    package static let builtAt = WallTime(secondsSinceEpoch: 1_795_219_200)
}
