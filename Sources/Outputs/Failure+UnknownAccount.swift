internal import Failures
internal import Linux
package import Model

extension Failure {
    /// That no group has the name that the configuration gives.
    ///
    /// - Parameter cause: the errno value where the groups could not be looked up.
    package static func unknownGroup(_ name: String, at place: Place, cause: Int32? = nil) -> Failure {
        unknown(.unknownGroup, name, at: place, cause: cause, "group", among: "/etc/group")
    }

    /// The same of a user.
    package static func unknownUser(_ name: String, at place: Place, cause: Int32? = nil) -> Failure {
        unknown(.unknownUser, name, at: place, cause: cause, "user", among: "/etc/passwd")
    }

    /// - Parameter file: the machine's own accounts; those of a directory may be too many.
    private static func unknown(
        _ code: Code, _ name: String, at place: Place, cause: Int32?, _ kind: String, among file: String
    ) -> Failure {
        let known = nearest(to: name, among: Accounts.names(in: file))
        return Failure(
            code, at: place, cause: cause, detail: place == .named(name) ? nil : name,
            remedy: known.map { .say("correct the name (did you mean \"\($0)\"?), or add the \(kind)") })
    }
}
