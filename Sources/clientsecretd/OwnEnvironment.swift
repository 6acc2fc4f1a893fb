import Glibc

/// The variables that the program was started with.
enum OwnEnvironment {
    static let current: [String: String] = {
        var all: [String: String] = [:]
        var next = unsafe environ
        while let text = unsafe next.pointee {
            let parts = unsafe String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // Of two with one name the first counts, as for getenv(3).
            if parts.count == 2 { all.merge([String(parts[0]): String(parts[1])]) { first, _ in first } }
            unsafe next += 1
        }
        return all
    }()

    /// An empty variable counts as unset.
    static func chosen(_ value: String?) -> String? {
        value.flatMap { $0.isEmpty ? nil : $0 }
    }
}
