/// Aligned columns with two spaces between them.
struct Table: Equatable {
    /// None: there is no line of headings.
    var headings: [String] = []
    var rows: [[Piece]]

    /// The lines, headings first, without spaces at their ends.
    var lines: [[Piece]] {
        let all = (headings.isEmpty ? [] : [headings.map { Piece($0, .bold) }]) + rows
        let widths = (all.first ?? []).indices.map { column in all.map { $0[column].text.count }.max() ?? 0 }
        return all.map { row in
            // No padding follows the last cell that is not empty.
            guard let last = row.lastIndex(where: { !$0.text.isEmpty }) else { return [] }
            return row[...last].enumerated().flatMap { column, piece in
                column == last
                    ? [piece]
                    : [piece, Piece(String(repeating: " ", count: widths[column] + 2 - piece.text.count))]
            }
        }
    }

    /// The length of the longest line.
    var width: Int {
        lines.map { $0.reduce(0) { $0 + $1.text.count } }.max() ?? 0
    }
}
