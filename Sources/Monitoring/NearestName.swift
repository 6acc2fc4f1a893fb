/// The one of `names` that differs from `text` by at most two wrong, missing, added or swapped letters, and by fewer
/// than half of them; nil when there is none.
func nearestName(to text: String, among names: [String]) -> String? {
    // A name has at most 64 bytes, and a suggestion is not worth comparing more than a thousand of them.
    guard text.utf8.count <= 66 else { return nil }
    let allowed = min(2, text.utf8.count / 2)
    let near = names.prefix(1000).map { (name: $0, distance: editDistance(Array(text.utf8), Array($0.utf8))) }
    return near.filter { $0.distance <= allowed }.min { $0.distance < $1.distance }?.name
}

/// Insertions, removals, replacements and swaps of neighbours that turn one text into the other.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var rows = [Array(0...right.count)]
    for (row, byte) in left.enumerated() {
        var current = [row + 1]
        for (column, other) in right.enumerated() {
            let replaced = rows[row][column] + (byte == other ? 0 : 1)
            var cost = min(rows[row][column + 1] + 1, current[column] + 1, replaced)
            if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                cost = min(cost, rows[row - 1][column - 1] + 1)
            }
            current.append(cost)
        }
        rows.append(current)
    }
    return rows[left.count][right.count]
}
