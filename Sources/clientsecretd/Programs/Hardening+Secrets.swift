import Linux

extension Hardening {
    /// For commands that see secrets, tokens or keys: no core dump, no inspection by other processes of the same user.
    static func protectSecrets() throws(CommandFailure) {
        try CommandFailure.explaining { () throws(SystemError) in try forbidInspection() }
    }
}
