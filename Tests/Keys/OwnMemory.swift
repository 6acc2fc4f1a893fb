import Foundation
import Testing

@testable import Keys

/// The writable memory of this process, searched for bytes that must not lie in it.
///
/// The bytes that are searched for are kept masked, so that the search does not find itself.
struct OwnMemory {
    /// Bytes under a mask.
    struct Pattern {
        static let mask: UInt8 = 0x5A
        let masked: [UInt8]

        var reversed: Pattern { Pattern(masked: masked.reversed()) }
    }

    /// The secure heap, or everything else.
    enum Part {
        case secureHeap
        case ordinary
    }

    private struct Region {
        let range: Range<Int>
        let permissions: Substring
    }

    /// OpenSSL's secure heap: the one mapping of its size between two guard pages.
    private let secureHeap: Range<Int>
    private static let chunk = 1 << 20

    init() throws {
        let regions = try Self.regions()
        let heaps = regions.indices.dropFirst().dropLast().filter { index in
            let (before, region, after) = (regions[index - 1], regions[index], regions[index + 1])
            return region.range.count == PrivateKeyHeap.size && region.permissions == "rw-p"
                && before.permissions == "---p" && before.range.upperBound == region.range.lowerBound
                && after.permissions == "---p" && after.range.lowerBound == region.range.upperBound
        }
        try #require(heaps.count == 1)
        secureHeap = regions[heaps[0]].range
    }

    private static func regions() throws -> [Region] {
        let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps"))
        defer { try? maps.close() }
        let text = String(decoding: try maps.readToEnd() ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            return ends.count == 2 ? Region(range: ends[0]..<ends[1], permissions: fields[1]) : nil
        }
    }

    /// How often each of the patterns lies in a part of the memory; and how many bytes were searched. Reading the memory is
    /// what takes long, so all are looked for at once.
    func count(_ patterns: [Pattern], in part: Part) throws -> (found: [Int], searched: Int) {
        let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/mem"))
        defer { try? memory.close() }
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: Self.chunk, alignment: 16)
        defer {
            // What was read is not to be found the next time.
            unsafe memset(buffer, 0, Self.chunk)
            unsafe buffer.deallocate()
        }
        let own = Int(bitPattern: buffer)..<(Int(bitPattern: buffer) + Self.chunk)
        let longest = patterns.map(\.masked.count).max() ?? 1
        var found = patterns.map { _ in 0 }
        var searched = 0
        for region in try Self.regions() where region.permissions.hasPrefix("rw") {
            guard (region.range == secureHeap) == (part == .secureHeap) else { continue }
            var position = region.range.lowerBound
            while position < region.range.upperBound {
                if own.contains(position) { position = own.upperBound }
                let end =
                    position < own.lowerBound ? min(region.range.upperBound, own.lowerBound) : region.range.upperBound
                let got = unsafe pread(
                    memory.fileDescriptor, buffer, max(0, min(Self.chunk, end - position)), off_t(position))
                // The end, or a mapping of another thread's that has gone meanwhile.
                guard got > 0 else { break }
                for (index, pattern) in patterns.enumerated() {
                    unsafe found[index] += Self.count(pattern, in: UnsafeRawBufferPointer(start: buffer, count: got))
                }
                searched += got
                // What lies across two pieces is seen whole in the second.
                position += position + got < end ? got - longest + 1 : got
            }
        }
        return (found, searched)
    }

    /// Looks first for the one byte of the pattern that memory is likely to hold least of: zeros and small numbers are
    /// everywhere.
    private static func count(_ pattern: Pattern, in bytes: UnsafeRawBufferPointer) -> Int {
        let masked = pattern.masked
        guard let start = bytes.baseAddress,
            let rare = masked.indices.max(by: { weight(masked[$0]) < weight(masked[$1]) })
        else { return 0 }
        var found = 0
        var offset = rare
        while offset < bytes.count,
            let hit = unsafe memchr(start + offset, Int32(masked[rare] ^ Pattern.mask), bytes.count - offset)
        {
            offset = unsafe UnsafeRawPointer(hit) - start
            let first = offset - rare
            if first + masked.count <= bytes.count {
                var matched = 0
                while matched < masked.count, unsafe bytes[first + matched] ^ Pattern.mask == masked[matched] {
                    matched += 1
                }
                if matched == masked.count { found += 1 }
            }
            offset += 1
        }
        return found
    }

    private static func weight(_ masked: UInt8) -> UInt8 {
        let byte = masked ^ Pattern.mask
        return byte == 0xFF ? 0 : byte
    }
}
