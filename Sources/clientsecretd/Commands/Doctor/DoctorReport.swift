import AppleClientSecret
import Failures

/// The output of `doctor`: for each client a line for each link, then the first broken one and its remedy.
struct DoctorReport {
    let chains: [ClientChain]
    /// Why the daemon was not asked; nil if it has answered.
    let unanswered: String?

    var isBroken: Bool { chains.contains { $0.broken != nil } }

    func lines(for terminal: Terminal) -> [[Piece]] {
        let daemon = unanswered.map { [Piece("the daemon was not asked: \(Printable.line($0))")] }
        return [daemon].compactMap(\.self) + chains.flatMap { lines(of: $0, on: terminal) }
    }

    private func lines(of chain: ClientChain, on terminal: Terminal) -> [[Piece]] {
        let width = ChainLink.Name.allCases.map(\.rawValue.count).max() ?? 0
        let links = chain.links.map { link in
            let name = link.name.rawValue
            let mark = mark(link.state)
            let gap = String(repeating: " ", count: 8 - mark.text.count)
            return [
                Piece("  \(name)" + String(repeating: " ", count: width + 2 - name.count), .dim), mark,
                Piece(gap + link.words),
            ]
        }
        guard let broken = chain.broken else {
            let unknown = chain.unknown.map(\.rawValue).joined(separator: ", ")
            let shortfall = unknown.isEmpty ? [] : [Piece("; not known: \(unknown)", .yellow)]
            return [[Piece("\(chain.client): ", .bold), Piece("no broken link", .green)] + shortfall] + links
        }
        let heading = [Piece("\(chain.client): ", .bold), Piece("broken at \(broken.name.rawValue)", .red)]
        var unwrapped = terminal
        unwrapped.columns = nil
        let help = broken.remedy.map { CommandMessage("  fix: \($0)", command: $0.command) }
        return [heading] + links
            + [help].compactMap(\.self).flatMap { Paragraph.lines($0, on: unwrapped) }.map { [Piece($0)] }
    }

    private func mark(_ state: ChainLink.State) -> Piece {
        switch state {
        case .ok: Piece("ok", .green)
        case .warning: Piece("warning", .yellow)
        case .broken: Piece("broken", .red)
        case .unknown: Piece("?", .yellow)
        }
    }

    var json: JSONText {
        .object([("daemon_error", .text(unanswered)), ("clients", .array(chains.map(\.json)))])
    }
}
