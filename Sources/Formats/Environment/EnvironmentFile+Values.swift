extension EnvironmentFile {
    /// The first of these lines, from 0, that some reader does not find within an entry of several lines; nil if there is none. The
    /// time is proportional to the file's size.
    ///
    /// - Parameter lines: in ascending order.
    func firstOutsideOfValues(_ lines: [Int]) -> Int? {
        guard let last = lines.last else { return nil }
        return readings.compactMap { reading in
            // At each line, how many more entries go on there than at the line before.
            var change = Array(repeating: 0, count: last + 2)
            for entry in reading.entries {
                let first = line(of: entry.range.lowerBound) + 1
                let end = line(of: max(entry.range.lowerBound, entry.range.upperBound - 1)) + 1
                guard first <= last, first < end else { continue }
                change[first] += 1
                change[min(end, last + 1)] -= 1
            }
            var open = Array(repeating: 0, count: last + 1)
            for index in 0...last { open[index] = change[index] + (index > 0 ? open[index - 1] : 0) }
            return lines.first { open[$0] == 0 }
        }.min()
    }
}
