import AppleClientSecret

extension RateLimit {
    /// How often Apple is asked about secrets, by the daemon or by one command. It publishes no limit.
    package static let requestsToApple = RateLimit(6, in: 60)
}
