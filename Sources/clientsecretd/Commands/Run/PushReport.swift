import Failures
import Model

/// The output of `run --once`: the outcome for each place behind an API.
enum PushReport {
    /// A line for each target, in the order of their names. The log shows the remedy of a failure.
    static func lines(of snapshot: Snapshot) -> [String] {
        let outputs = snapshot.clients.flatMap { client in
            client.outputs.compactMap { output in output.target.map { (target: $0, output: output, client: client) } }
        }
        return outputs.sorted { $0.target < $1.target }
            .map { Printable.line(line($0.target, $0.output, of: $0.client)) }
    }

    private static func line(_ target: TargetName, _ output: OutputView, of client: ClientView) -> String {
        guard output.state == .ok, let secret = client.current else {
            let reason = client.reason?.failure.message ?? "the run ended before"
            // The failure of a target begins with the target.
            return output.error ?? "target \"\(target)\": not pushed: \(reason)"
        }
        return "target \"\(target)\": \(output.writtenAt == nil ? "keeps" : "pushed") \(secret.fingerprint) of "
            + "\(client.name), \(output.verified == true ? "verified" : "unverified")"
            + (output.deployed == false ? "; it takes effect with the next deployment" : "")
            + (output.error.map { "; \($0)" } ?? "")
    }
}
