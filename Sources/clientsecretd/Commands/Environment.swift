import FoundationEssentials

/// The variables that the program was started with.
enum Environment {
    static let current = ProcessInfo.processInfo.environment
}
