/// systemd's `EnvironmentFile=`.
extension LineReader {
    /// `parse_env_file_internal` in systemd's env-file.c. It ignores a line whose name is preceded by `export`; the line
    /// still counts as the variable's, because the file is for other programs then.
    mutating func systemd(continuesComments: Bool) -> [EnvironmentEntry]? {
        while index < bytes.count {
            let start = index
            let first = bytes[index]
            index += 1
            if first == .hash || first == .semicolon {
                skipSystemdComment(continues: continuesComments)
            } else if !first.isSystemdSpace {
                while index < bytes.count, bytes[index] != .equals, !bytes[index].isLineBreak { index += 1 }
                guard index < bytes.count, bytes[index] == .equals else { continue }
                let name = start..<index
                index += 1
                skipSystemdValue()
                let end = trimmed(index, from: name.upperBound + 1)
                guard isText(name), isText(name.upperBound + 1..<end) else { return nil }
                add(withoutExport(name), start..<end, isSpace: \.isSystemdSpace)
            }
        }
        return entries
    }

    private mutating func skipSystemdComment(continues: Bool) {
        while index < bytes.count, !bytes[index].isLineBreak {
            if bytes[index] == .backslash, index + 1 < bytes.count, continues || !bytes[index + 1].isLineBreak {
                index += 1
            }
            index += 1
        }
    }

    /// Advances to the line break that ends the value.
    private mutating func skipSystemdValue() {
        // Quotes count only before the first other character, but after a closing quote again.
        var isBeforeValue = true
        while index < bytes.count, !bytes[index].isLineBreak {
            let byte = bytes[index]
            index += 1
            switch byte {
            case .singleQuote where isBeforeValue, .doubleQuote where isBeforeValue:
                while index < bytes.count, bytes[index] != byte {
                    index += bytes[index] == .backslash && byte == .doubleQuote ? 2 : 1
                }
                index += 1
            case .backslash:
                isBeforeValue = false
                index += 1
            case .space, .tab: break
            default: isBeforeValue = false
            }
        }
        index = min(index, bytes.count)
    }
}
