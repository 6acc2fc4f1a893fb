import Foundation
import Glibc
import Linux
import Testing

/// Runs `body` on a thread of its own with another user's file access: no capability, no group of root's.
///
/// setfsuid sets this user for one thread, so other tests are not affected.
@discardableResult
func acting<Value: Sendable>(
    as identity: Identity, _ body: @escaping @Sendable () throws -> Value
) throws -> Value {
    let setUser: UserCall = try threadCall("setfsuid")
    let setGroup: UserCall = try threadCall("setfsgid")
    let setCapabilities: CapabilityCall = try unsafe threadCall("capset")
    let box = ResultBox<Value>()
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        _ = setGroup(identity.group)
        _ = setUser(identity.user)
        // Version 3 of capset, for this thread, with no capability in any set.
        var header: [UInt32] = [0x2008_0522, 0]
        let none = [UInt32](repeating: 0, count: 6)
        if unsafe setCapabilities(&header, none) == 0 { box.result = Result { try body() } }
        done.signal()
    }
    done.wait()
    guard let result = box.result else { throw NothingThrown() }
    return try result.get()
}

private final class ResultBox<Value>: @unchecked Sendable {
    var result: Result<Value, any Error>?
}

private typealias UserCall = @convention(c) @Sendable (UInt32) -> Int32
private typealias CapabilityCall =
    @convention(c) @Sendable (UnsafeMutablePointer<UInt32>, UnsafePointer<UInt32>) -> Int32

/// A function of the C library that Swift does not import.
private func threadCall<Function>(_ name: String) throws -> Function {
    guard let address = unsafe dlsym(nil, name) else { throw NothingThrown() }
    return unsafe unsafeBitCast(address, to: Function.self)
}
