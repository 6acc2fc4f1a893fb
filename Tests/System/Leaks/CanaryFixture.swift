import Foundation
import TestSupport
import Testing

/// A daemon with a known key, everything wrong with it that can be, and an ear at each of its channels.
final class CanaryFixture {
    let sandbox: Sandbox
    private(set) var scanner = LeakScanner()
    private var heard: [(channel: String, bytes: [UInt8])] = []
    private var tokens: Set<String> = []
    private let manager: NotifySocket

    /// A scalar whose base64 has slashes in PEM: what takes a key for words and paths shows it.
    static let scalar: [UInt8] = [
        0xE3, 0xBF, 0x9A, 0x72, 0xD7, 0x14, 0xC6, 0x96, 0xB0, 0x3A, 0xA2, 0x01, 0x17, 0xFA, 0x1F, 0xF9, 0x65, 0x73,
        0x94,
        0x36, 0x03, 0xFC, 0x8F, 0x98, 0x34, 0x79, 0xF6, 0xF8, 0x4F, 0xA1, 0xFC, 0x28,
    ]
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg47+actcUxpawOqIB
        F/of+WVzlDYD/I+YNHn2+E+h/CihRANCAAQJE7x1eVV1o+O/oWgyAppCR9wZO28j
        mhEBa5Y/g+r5X/hDrauSQCtMwj1lmmGZUQrgsh9JH+LWeBC0vGkcYk5T
        -----END PRIVATE KEY-----

        """

    init() throws {
        sandbox = try Sandbox()
        manager = try NotifySocket(at: sandbox.directory("manager"))
        manager.follow()
        scanner.watch(Self.scalar, as: "the key")
        try sandbox.directory.write(Self.pem, to: "keys/AuthKey_ABC123DEFG.p8")
        try sandbox.makeDirectory("notes")
    }

    deinit { manager.end() }

    // MARK: Hearing

    func hear(_ channel: String, _ bytes: some Sequence<UInt8>) {
        heard.append((channel, Array(bytes)))
    }

    /// Runs the program and hears both of its streams; one whose answer is a secret names the other alone.
    @discardableResult
    func command(_ arguments: String..., input: String = "", answersWithASecret: Bool = false) throws -> Finished {
        try command(arguments, input: input, answersWithASecret: answersWithASecret)
    }

    @discardableResult
    func command(
        _ arguments: [String], input: String = "", answersWithASecret: Bool = false, environment: [String: String] = [:]
    ) throws -> Finished {
        let finished = try run(
            [sandbox.binary] + arguments, input: Data(input.utf8),
            environment: [
                "CLIENTSECRETD_CONFIG": sandbox.configuration,
                "CLIENTSECRETD_SOCKET": sandbox.socket, "NO_COLOR": "1",
            ].merging(environment) { _, new in new })
        let name = arguments.first ?? "clientsecretd"
        if answersWithASecret { collect(finished.output) } else { hear("\(name)'s output", finished.output.utf8) }
        hear("\(name)'s complaints", finished.complaints.utf8)
        try collectTokens()
        return finished
    }

    /// Says this to the status socket and hears what comes back.
    func visit(_ request: String) throws {
        let answer = try run(
            ["curl", "--silent", "--include", "--max-time", "300", "--unix-socket", sandbox.socket]
                + request.split(separator: " ").map(String.init))
        let isAnswer = answer.output.hasPrefix("HTTP/1.1 ")
        #expect(isAnswer, "\(request): \(answer.complaints)")
        hear("the answer to \(request.prefix(60))", answer.output.utf8)
        try collectTokens()
    }

    func start() throws {
        try sandbox.start(environment: ["NOTIFY_SOCKET": manager.path], waiting: false)
        try sandbox.eventually("READY") { manager.text.contains("READY=1") }
        hearProcess()
    }

    /// What others may see of the daemon and its children while they run.
    func hearProcess() {
        guard let daemon = sandbox.processID else { return }
        for process in [daemon] + Self.children(of: daemon) {
            for item in ["cmdline", "environ", "maps", "status", "limits", "comm"] {
                let content = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(process)/\(item)"))
                hear("/proc/…/\(item)", content ?? Data())
            }
            let directory = "/proc/\(process)/fd"
            for number in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
                let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(number)")
                hear("/proc/…/fd", (link ?? "").utf8)
            }
        }
    }

    private static func children(of process: Int32) -> [Int32] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        let children = tasks.flatMap { task in
            let text = try? String(contentsOfFile: "/proc/\(process)/task/\(task)/children", encoding: .utf8)
            return (text ?? "").split(separator: " ").compactMap { Int32($0) }
        }
        return children + children.flatMap(Self.children)
    }

    // MARK: Secrets

    /// Watches for the signature of every secret that lies about where secrets may.
    func collectTokens() throws {
        for name in ["out", "state"] {
            for file in try FileManager.default.subpathsOfDirectory(atPath: sandbox.directory(name)) {
                collect((try? sandbox.directory.read("\(name)/\(file)")) ?? "")
            }
        }
    }

    private func collect(_ text: String) {
        for match in text.matches(of: #/eyJ[\w-]+\.[\w-]+\.([\w-]{86})/#) where tokens.insert(String(match.0)).inserted
        {
            let signature = String(match.1)
            scanner.watch(Array(signature.utf8), as: "a secret's third part")
            let base64 = signature.replacing("-", with: "+").replacing("_", with: "/") + "=="
            scanner.watch(Array(Data(base64Encoded: base64) ?? Data()), as: "a secret's signature")
        }
    }

    /// The fingerprints of the secrets that are watched for.
    func fingerprints() throws -> Set<String> {
        let digests = try tokens.map { token in
            try run(["sha256sum"], input: Data(token.utf8)).output.prefix(16)
        }
        return Set(digests.map { "sha256:\($0)" })
    }

    // MARK: The verdict

    /// Everything that came out, and what of the secrets is in it.
    func leaks() throws -> [String] {
        hear("the log", try Data(contentsOf: URL(fileURLWithPath: sandbox.directory("log"))))
        hear("the log, unfolded", Self.unfolded(try sandbox.log()))
        hear("sd_notify", manager.text.utf8)
        for file in try FileManager.default.subpathsOfDirectory(atPath: sandbox.directory.path) {
            // Where the key lies, and what is to hold secrets.
            if file.hasPrefix("keys/") || file.hasPrefix("out/") || file.hasPrefix("given/") { continue }
            let bytes = (try? Data(contentsOf: URL(fileURLWithPath: sandbox.directory(file)))) ?? Data()
            if file.hasPrefix("state/") {
                var key = LeakScanner()
                key.watch(Self.scalar, as: "the key")
                for leak in key.leaks(in: bytes) { heard.append(("\(file): \(leak)", Self.scalar)) }
            } else {
                hear(file, bytes)
            }
        }
        return Set(heard.flatMap { channel, bytes in scanner.leaks(in: bytes).map { "\(channel): \($0)" } }).sorted()
    }

    /// What hooks have printed, by line, without what the log puts before it and without all that folds.
    private static func unfolded(_ log: String) -> [UInt8] {
        let lines = log.split(separator: "\n").compactMap { line -> Substring? in
            guard line.hasPrefix("exec "), let colon = line.firstRange(of: ": ") else { return nil }
            return line[colon.upperBound...]
        }
        return lines.joined().utf8.filter { !#" \"'`,:\"#.utf8.contains($0) }
    }

    var said: Int { heard.reduce(0) { $0 + $1.bytes.count } }
    var channels: Set<String> { Set(heard.map(\.channel)) }
}
