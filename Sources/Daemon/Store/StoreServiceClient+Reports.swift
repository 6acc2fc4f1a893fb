import Failures
import Linux
import Model
import Store

/// How the machines' reports are read, put and removed.
extension StoreServiceClient {
    // These limits keep the data at some 100 MB, whatever a user sends who may write to the store or controls the service. A
    // page has at most ``StoreResult/mostListed`` reports, or 1 MiB of them.
    private static let mostPages = 1_000
    /// The holdings in all of them.
    private static let mostHoldings = 200_000

    /// Puts this machine's report under its name, if that was last changed at this revision. Blocks.
    func put(_ value: MachineReportValue, of machine: String, ifAt revision: Int64) throws(Failure) -> ReportPut {
        let put = StoreRequest.Put(Array(value.text.utf8), at: .report(of: machine), ifAt: revision)
        switch try ask(.put([put])) {
        case .put(let revision): return .done(revision: revision)
        case .conflict(let entries):
            guard entries.count == 1 else { throw answersAnotherRequest }
            return .found(Self.report(entries[0], of: Set(value.report.clients.keys), own: value.instance))
        default: throw answersAnotherRequest
        }
    }

    /// All machines' reports of these clients. Blocks.
    func readReports(of clients: Set<ClientIdentity>) throws(Failure) -> [String: ReportObservation] {
        var found: [String: ReportObservation] = [:]
        var holdings = 0
        var first: [UInt8]?
        var last: StoreKey?
        let deadline = Deadline(in: 2 * service.timeout)
        func tooMany(_ count: Int, _ what: String) -> Failure {
            Failure(.storeAnswerUnexpected, at: .store, detail: "more than \(count) \(what)")
        }
        for _ in 0..<Self.mostPages {
            guard case .list(let page, let next) = try ask(.list(.report, from: first), until: deadline) else {
                throw answersAnotherRequest
            }
            for listed in page {
                // In the order of their keys, so that each page leads on.
                guard last.map({ $0 < listed.key }) ?? true else {
                    throw Failure(.storeServiceSilent, at: .store, detail: "its reports are not in order")
                }
                last = listed.key
                guard let machine = listed.key.machine, let report = Self.report(listed.entry, of: clients, own: nil)
                else { throw answersAnotherRequest }
                found[machine] = report
                holdings += report.report?.clients.count ?? 0
            }
            if found.count > MachineReport.mostMachines {
                throw tooMany(MachineReport.mostMachines, "machines report")
            }
            if holdings > Self.mostHoldings { throw tooMany(Self.mostHoldings, "clients in the machines' reports") }
            guard let next else { return found }
            guard first?.lexicographicallyPrecedes(next) ?? true else {
                throw Failure(.storeServiceSilent, at: .store, detail: "its reports are not in order")
            }
            first = next
        }
        throw tooMany(Self.mostPages, "pages of reports")
    }

    /// Removes a machine's report, unless it was changed at another revision. Blocks.
    func forgetReport(of machine: String, ifAt revision: Int64) throws(Failure) -> Outcome {
        guard case .removed = try ask(.remove(.report(of: machine), ifAt: revision)) else {
            throw answersAnotherRequest
        }
        return .reportForgotten
    }

    /// The content of a report's place; nil for nothing, also if it may not be read.
    private static func report(
        _ entry: StoreEntry, of clients: Set<ClientIdentity>, own instance: String?
    ) -> ReportObservation? {
        switch entry {
        case .missing, .forbidden: return nil
        case .tooLong(let revision): return ReportObservation(revision: revision, report: nil, isOwn: false)
        case .value(let bytes, let revision):
            let value = MachineReportValue(bytes, of: clients)
            return ReportObservation(
                revision: revision, report: value?.report, isOwn: instance != nil && value?.instance == instance)
        }
    }
}
