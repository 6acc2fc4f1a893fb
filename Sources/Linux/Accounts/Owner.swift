import CLinux
package import Failures

/// Users and groups as text: `alice (1000)`, or the number alone where no name is known.
package enum Owner {
    /// The fix that lets a user give files to a group, named by name or number.
    package static func joining(group: String, user: UInt32) -> Remedy {
        .say("add the user to it and start the daemon anew", run: "adduser \(argument(user: user)) \(group)")
    }

    static func describe(user: UInt32) -> String {
        name(ofUser: user).map { "\($0) (\(user))" } ?? String(user)
    }

    static func describe(group: UInt32) -> String {
        name(ofGroup: group).map { "\($0) (\(group))" } ?? String(group)
    }

    /// A command's argument: the name, else the number.
    package static func argument(user: UInt32) -> String {
        name(ofUser: user) ?? String(user)
    }

    static func argument(group: UInt32) -> String {
        name(ofGroup: group) ?? String(group)
    }

    private static func name(ofUser user: UInt32) -> String? {
        var group: UInt32 = 0
        return unsafe text { unsafe clinux_user_by_id(user, $0, &group) }
    }

    private static func name(ofGroup group: UInt32) -> String? {
        unsafe text { unsafe clinux_group_by_id(group, $0) }
    }

    private static func text(_ fill: (UnsafeMutablePointer<CChar>?) -> Int32) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(CLINUX_ACCOUNT_NAME))
        guard unsafe buffer.withUnsafeMutableBufferPointer({ unsafe fill($0.baseAddress) }) == 1 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
