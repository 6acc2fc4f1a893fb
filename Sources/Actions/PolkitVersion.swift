import Linux

/// The version of polkit on this machine.
enum PolkitVersion {
    /// The version of a polkit that does not read rules in JavaScript (0.105 and older, as on Ubuntu 22.04). Nil if it reads
    /// them, or if the version is unknown. Asked once. Blocks.
    ///
    /// The rules that such a polkit reads instead would let the user manage every unit.
    static let ignoringRules: String? = {
        let program = ["/usr/bin/pkaction", "--version"]
        guard
            let report = try? ChildProcess.run(program, environment: ChildProcess.environment, timeout: 5_000),
            report.ending == .exited(0)
        else { return nil }
        return versionIgnoringRules(in: report.lines.joined(separator: "\n"))
    }()

    /// - Parameter text: the output of pkaction(1), such as `pkaction version 0.105`. Versions after 0.120 are whole numbers.
    static func versionIgnoringRules(in text: String) -> String? {
        guard let version = text.split(whereSeparator: \.isWhitespace).last else { return nil }
        let parts = version.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, parts[0] == 0, let minor = parts[1], minor < 106 else { return nil }
        return String(version)
    }
}
