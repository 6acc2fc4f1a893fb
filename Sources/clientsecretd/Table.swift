/// Aligned columns with two spaces between them.
struct Table: Equatable {
    var headings: [String]
    var rows: [[Piece]]

    /// The lines, headings first, without spaces at their ends.
    var lines: [[Piece]] {
        let all = [headings.map { Piece($0, .bold) }] + rows
        return all.map { row in
            var line: [Piece] = []
            for (column, piece) in row.enumerated() {
                line.append(piece)
                let isLast = row[(column + 1)...].allSatisfy(\.text.isEmpty)
                if isLast { break }
                line.append(Piece(String(repeating: " ", count: widths[column] + 2 - piece.text.count)))
            }
            return line
        }
    }

    /// The length of the longest line.
    var width: Int {
        lines.map { $0.reduce(0) { $0 + $1.text.count } }.max() ?? 0
    }

    private var widths: [Int] {
        headings.indices.map { column in
            max(headings[column].count, rows.map { $0[column].text.count }.max() ?? 0)
        }
    }
}
