/// Strings as exec takes them: an array of pointers that ends with a null.
struct CStrings {
    private let bytes: [CChar]
    private let offsets: [Int]

    /// `nil` when one of them holds a NUL, which would cut it short.
    init?(_ strings: [String]) {
        var bytes: [CChar] = []
        var offsets: [Int] = []
        for string in strings {
            if string.utf8.contains(0) { return nil }
            offsets.append(bytes.count)
            bytes += string.utf8.map { CChar(bitPattern: $0) } + [0]
        }
        self.bytes = bytes
        self.offsets = offsets
    }

    func withPointers(_ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32) -> Int32 {
        var bytes = bytes
        return unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var pointers = unsafe offsets.map { offset in unsafe buffer.baseAddress.map { unsafe $0 + offset } }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { pointers in
                guard let first = pointers.baseAddress else { return -1 }
                return unsafe body(first)
            }
        }
    }
}

extension String {
    /// The text that a function of the C library has written into a buffer, up to the first NUL.
    init(zeroTerminated buffer: [CChar]) {
        self.init(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
