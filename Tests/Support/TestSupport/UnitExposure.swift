// The simulator's program, which is built without the testing library, shares this module.
#if canImport(Testing)

    import Foundation
    import Testing

    /// What a unit is open to.
    package struct UnitExposure {
        /// What the comment in the unit says, such as `1.0`.
        package let stated: String
        /// What `systemd-analyze security` says, line by line.
        package let lines: [Substring]

        /// - Parameter unit: the unit's name in systemd/.
        package init(of unit: String) throws {
            let path = repository + "/systemd/" + unit
            let text = try String(contentsOfFile: path, encoding: .utf8)
            stated = String(try #require(text.firstMatch(of: /exposure ([0-9]\.[0-9])/)).output.1)
            lines = try run(["systemd-analyze", "security", "--offline=yes", "--no-pager", path]).output.split(
                separator: "\n")
        }

        /// Requires that the comment is right, and that it is no more than `limit`.
        package func check(atMost limit: Double) throws {
            let line = try #require(lines.last { $0.contains("Overall exposure level") }, "\(lines)")
            #expect(line.contains(": \(stated) "), "\(line)")
            #expect(try #require(Double(stated)) <= limit)
        }
    }

#endif
