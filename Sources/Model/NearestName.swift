internal import AppleClientSecret

/// The one of `names` that `text` most likely meant; nil when none is near enough.
///
/// In this order: names that differ only in case or in `-` for `_`; names with at most one wrong, missing, doubled or
/// swapped letter for each three (two at most); the only name that begins with `text` or that `text` begins with.
package func nearest(to text: String, among names: some Sequence<String>) -> String? {
    // Names are at most 64 bytes: much longer text was pasted, not mistyped.
    guard !text.isEmpty, text.utf8.count <= 80 else { return nil }
    let wanted = folded(text)
    let allowed = min(2, max(1, wanted.count / 3))
    var best: (name: String, distance: Int)?
    var continued: [String] = []
    // At most 200 names are compared: a suggestion is not worth more time.
    for name in names.prefix(200) where name != text {
        let candidate = folded(name)
        if min(wanted.count, candidate.count) >= 3 && (candidate.starts(with: wanted) || wanted.starts(with: candidate))
        {
            continued.append(name)
        }
        guard abs(candidate.count - wanted.count) <= allowed else { continue }
        let distance = editDistance(wanted, candidate)
        if distance <= allowed && distance < best?.distance ?? .max && distance < max(1, wanted.count) {
            best = (name, distance)
        }
    }
    return best?.name ?? (continued.count == 1 ? continued.first : nil)
}

/// The question at the end of a message whether the nearest of `names` was meant; nil when none is near enough.
package func suggestion(for text: String, among names: some Sequence<String>) -> String? {
    nearest(to: text, among: names).map { "did you mean \"\($0)\"?" }
}

private func folded(_ text: String) -> [UInt8] {
    text.utf8.map { byte in
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: " ") ? UInt8(ascii: "_") : byte.asciiLowercased
    }
}

/// The number of insertions, removals, replacements and swaps of neighbours that turn one text into the other (optimal
/// string alignment).
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for (row, character) in left.enumerated() {
        var current = [row + 1]
        current.reserveCapacity(right.count + 1)
        for (column, other) in right.enumerated() {
            var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (character == other ? 0 : 1))
            if row > 0, column > 0, character == right[column - 1], left[row - 1] == other {
                cost = min(cost, beforeLast[column - 1] + 1)
            }
            current.append(cost)
        }
        beforeLast = last
        last = current
    }
    return last[right.count]
}
