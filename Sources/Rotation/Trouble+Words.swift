extension Trouble {
    /// What happened, for people.
    package var message: String { code.rawValue }
}
