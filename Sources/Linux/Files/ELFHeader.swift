/// The parts of a program's header that show where it runs (elf(5)).
struct ELFHeader {
    static let magic: [UInt8] = [0x7F, 0x45, 0x4C, 0x46]

    /// Of 64 bits.
    let isWide: Bool
    let machine: UInt64
    let tableStart: Int
    let tableSize: Int
    private let isBig: Bool
    private let entrySize: Int

    /// Nil when it is damaged.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 64, bytes.starts(with: Self.magic), [1, 2].contains(bytes[4]), [1, 2].contains(bytes[5])
        else {
            return nil
        }
        isWide = bytes[4] == 2
        isBig = bytes[5] == 2
        machine = Self.number(bytes, 18, 2, isBig)
        tableStart = Int(clamping: Self.number(bytes, isWide ? 32 : 28, isWide ? 8 : 4, isBig))
        entrySize = Int(Self.number(bytes, isWide ? 54 : 42, 2, isBig))
        // Linux takes no larger table.
        tableSize = min(entrySize * Int(Self.number(bytes, isWide ? 56 : 44, 2, isBig)), 65_536)
    }

    /// The position of the loader's name in the file (PT_INTERP); nil when it needs none.
    func loader(in table: [UInt8]) -> (start: Int, count: Int)? {
        guard entrySize >= (isWide ? 56 : 32) else { return nil }
        for start in stride(from: 0, through: table.count - entrySize, by: entrySize) {
            let entry = Array(table[start..<start + entrySize])
            guard Self.number(entry, 0, 4, isBig) == 3 else { continue }
            return (
                Int(clamping: Self.number(entry, isWide ? 8 : 4, isWide ? 8 : 4, isBig)),
                Int(clamping: Self.number(entry, isWide ? 32 : 16, isWide ? 8 : 4, isBig))
            )
        }
        return nil
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int, _ isBig: Bool) -> UInt64 {
        let part = bytes[start..<start + count]
        return (isBig ? Array(part) : part.reversed()).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
