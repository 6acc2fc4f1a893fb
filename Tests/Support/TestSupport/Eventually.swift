import Foundation

/// Looks until `condition` holds, for as long as a busy machine may need; false when it never does.
package func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<6_000 {
        if try condition() { return true }
        usleep(10_000)
    }
    return false
}
