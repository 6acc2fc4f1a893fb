extension BidirectionalCollection {
    /// Without the blanks at both ends.
    @inlinable package func trimming(while isBlank: (Element) -> Bool) -> SubSequence {
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}
