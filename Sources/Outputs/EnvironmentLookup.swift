/// Looks up a variable of an environment file without editing it.
package enum EnvironmentLookup {
    /// What was found.
    package enum Found: Hashable, Sendable {
        case value([UInt8])
        case absent
        /// Assignments that differ, or that only some readers of such files see.
        case differing
        /// The file cannot be read safely: the line, from 1, and why.
        case malformed(line: Int, reason: String)
    }

    /// The value of `variable` in a file of these `bytes`, without any quotes around it.
    package static func value(of variable: String, in bytes: [UInt8]) -> Found {
        do throws(EnvironmentFile.Malformed) {
            switch try EnvironmentFile(bytes).value(of: variable) {
            case .one(let value): return .value(value)
            case .absent: return .absent
            case .differing: return .differing
            }
        } catch {
            return .malformed(line: error.line, reason: error.reason)
        }
    }
}
