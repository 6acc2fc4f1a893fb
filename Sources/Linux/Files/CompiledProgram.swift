/// A compiled program (elf(5)).
enum CompiledProgram {
    /// The path of the dynamic loader that Linux starts for the program at `path`; nil if it has none. Also nil for another kind of
    /// file, and for a name that is not in the file's first page, where linkers put it.
    static func loader(of path: String) -> String? {
        // 64 bits, little-endian: all machines that this program is built for.
        guard let bytes = ForeignFile.bytes(of: path, count: 4_096),
            bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1])
        else { return nil }
        // Anybody may have written these numbers: a place that is not in the page reads as 0.
        func number(at offset: Int, _ width: Int) -> Int {
            guard offset <= bytes.count - width else { return 0 }
            return bytes[offset..<offset + width].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let (table, entry) = (number(at: 32, 4), 56)
        for start in stride(from: table, to: table + entry * number(at: 56, 2), by: entry) {
            // PT_INTERP
            guard number(at: start, 4) == 3 else { continue }
            let name = bytes.dropFirst(number(at: start + 8, 4)).prefix(number(at: start + 32, 4))
            guard name.last == 0, name.first == UInt8(ascii: "/") else { return nil }
            return String(decoding: name.dropLast(), as: UTF8.self)
        }
        return nil
    }
}
