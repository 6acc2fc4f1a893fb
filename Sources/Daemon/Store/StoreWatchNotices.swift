import Model
import Rotation
import Store

/// Notices of the service for the store. Those that repeat count once: the last one about the watch, and whether something
/// has changed.
struct StoreWatchNotices {
    private var isWatched: Bool?
    private(set) var hasChanged = false

    /// Adds a line; false when it is no notice.
    mutating func add(_ line: [UInt8]) -> Bool {
        switch StoreWatchNotice(line: line) {
        case .watching: isWatched = true
        case .unwatched: isWatched = false
        case .changed: hasChanged = true
        case nil: return false
        }
        return true
    }

    var inputs: [Input] {
        [isWatched.map { .storeWatched($0) }, hasChanged ? .changeNoticed(.store) : nil].compactMap { $0 }
    }
}
