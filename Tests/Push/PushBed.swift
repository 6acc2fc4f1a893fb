import Foundation
import TestSupport
import Testing

/// What a secret is pushed to, and how the real program is asked to.
final class PushBed {
    let directory: TemporaryDirectory
    /// As the stand-in or the service says it.
    let address: String
    private let process: Background
    /// Whether it is asked by a daemon that remembers what it wrote and began: else by one that has just started.
    var remembers = false
    private var remembered: [String: Any] = [:]

    static let support = repository + "/Tests/Support"

    /// A client secret of nobody's, and another one: what the program checks is their form.
    static let secrets = (0...1).map { number in
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        }
        let head = part(#"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        let claims =
            #"{"iss":"DEF123GHIJ","iat":\#(1_700_000_000 + number),"exp":1800000000,"#
            + #""aud":"https://appleid.apple.com","sub":"com.example.web"}"#
        return "\(head).\(part(claims)).\(part(String(repeating: "s", count: 64)))"
    }

    /// Starts a program that prints a line once it serves.
    init(_ arguments: [String], in directory: TemporaryDirectory) throws {
        self.directory = directory
        process = try Background(arguments)
        address = process.firstLine
        try #require(address.hasPrefix("http"), "\(arguments[0]) did not start: \(address)")
    }

    convenience init(script: String) throws {
        let directory = try TemporaryDirectory()
        try self.init([python, Self.support + "/push/" + script, directory.path], in: directory)
    }

    func order(_ orders: String) throws { try directory.write(orders, to: "orders") }

    /// The secret that it holds; nil without one.
    var held: String? { try? directory.read("held") }

    var requests: [String] {
        ((try? directory.read("log")) ?? "").split(separator: "\n").map(String.init)
    }

    /// Asks the program.
    ///
    /// - Parameters:
    ///   - target: the settings of the target, in braces; `ENDPOINT` and `CA` stand for the stand-in's.
    ///   - wasWritten: whether the daemon knows that it has written there before.
    func ask(
        _ verb: String, _ target: String, secret: String = secrets[0], token: String = "token-of-the-tests",
        others: [String: (target: String, secret: String)] = [:], wasWritten: Bool = false, timeout: Int = 120_000
    ) throws -> Answer {
        try directory.write(token + "\n", to: "token")
        var targets = "targets:\n"
        for (name, target) in [("production", target)] + others.map({ ($0.key, $0.value.target) }) {
            let settings = target.replacingOccurrences(of: "ENDPOINT", with: address)
                .replacingOccurrences(
                    of: "CA", with: "ca_file: \(directory("ca.pem")), token_file: \(directory("token"))")
            targets += "  \(name): {\(settings)}\n"
        }
        try directory.write(targets, to: "clientsecretd.yaml")
        let further = others.map { #""\#($0.key)":"\#($0.value.secret)""# }.joined(separator: ",")
        let known = wasWritten ? remembered.merging(["was_written": true]) { $1 } : remembered
        let facts = try known.map { name, value in
            let json = try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
            return #","\#(name)":"# + String(decoding: json, as: UTF8.self)
        }.joined()
        let request =
            #"{"do":"\#(verb)","client_secret":"\#(secret)"\#(others.isEmpty ? "" : #","others":{\#(further)}"#)\#(facts)}"#
        let finished = try run(
            [
                Binaries.network, "push", "production", "--config", directory("clientsecretd.yaml"), "--timeout",
                String(timeout),
            ], input: Data(request.utf8), environment: ["https_proxy": "http://127.0.0.1:1"])
        try #require(finished.status == 0, "\(finished.output)\(finished.complaints)")
        // Neither the secret nor the token is ever said again.
        for hidden in [secret, token] + others.values.map(\.secret) {
            #expect(!(finished.output + finished.complaints).contains(hidden))
        }
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(finished.output.utf8)) as? [String: Any], "\(finished.output)")
        if remembers {
            if let moment = json["written_at"] { remembered = ["written_at": moment] }
            if verb == "redeploy" { remembered["deployment"] = json["deployment"] }
        }
        return Answer(
            result: json["result"] as? String, verified: json["verified"] as? Bool, holds: json["holds"] as? Bool,
            code: json["code"] as? String, detail: json["detail"] as? String, retryAfter: json["retry_after"] as? Int,
            ready: json["ready"] as? Bool)
    }

    struct Answer: Hashable {
        var result: String?
        var verified: Bool?
        var holds: Bool?
        var code: String?
        var detail: String?
        var retryAfter: Int?
        var ready: Bool?
    }
}
