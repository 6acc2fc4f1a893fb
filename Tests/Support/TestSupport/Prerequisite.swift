// The simulator's program, which is built without the testing library, shares this module.
#if canImport(Testing)

    import Glibc
    package import Testing

    /// Whether the tests run as root.
    package let isRoot = geteuid() == 0

    /// Something of the machine's that a test needs.
    ///
    /// A developer's machine may lack it: then the tests are skipped, and say why. Where `CI` is `true` they fail
    /// instead, because a run that skipped half of them would look as green as a whole one.
    package struct Prerequisite: Error, CustomStringConvertible {
        package let description: String

        /// Whether tests that need root can run.
        ///
        /// - Parameter purpose: what root is needed for, as in "mounts file systems".
        package static func root(for purpose: String) throws -> Bool {
            try check(isRoot, "needs root: \(purpose)")
        }

        /// Returns `holds`, and throws if it is false where nothing may be skipped.
        package static func check(_ holds: Bool, _ lack: String, isCI: Bool = isCI) throws -> Bool {
            if !holds, isCI { throw Prerequisite(description: "\(lack); nothing is skipped where CI=true") }
            return holds
        }

        private static let isCI = unsafe getenv("CI").map { unsafe String(cString: $0) } == "true"
    }

    extension Trait where Self == ConditionTrait {
        /// For root alone; `purpose` is what root is needed for, as in "mounts file systems".
        package static func needsRoot(_ purpose: String) -> Self {
            .enabled("needs root: \(purpose)") { try Prerequisite.root(for: purpose) }
        }
    }

#endif
