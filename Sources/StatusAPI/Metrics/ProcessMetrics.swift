import AppleClientSecret
import Glibc
import Linux

/// This process's resource use, under the names that Prometheus' client libraries share
/// (https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics), read from proc(5) for each scrape.
///
/// Unreadable values are left out.
enum ProcessMetrics {
    static func text(startedAt: WallTime) -> String {
        Metric.text(rows, of: Status(usage: ProcessStatistics(ofProcessIn: "/proc/self"), startedAt: startedAt))
    }

    /// The source of the rows.
    struct Status {
        /// Nil when it cannot be read.
        var usage: ProcessStatistics?
        var startedAt: WallTime
    }

    static let rows: [Metric<Status>] = [
        Metric(
            name: "process_cpu_seconds_total", help: "Total user and system CPU time spent in seconds.", kind: .counter,
            labels: []
        ) { status in
            guard let usage = status.usage else { return [] }
            let hundredths = usage.ticks * 100 / ProcessStatistics.ticksPerSecond
            let rest = String(hundredths % 100)
            return [([], "\(hundredths / 100).\(rest.count < 2 ? "0" : "")\(rest)")]
        },
        gauge("open_fds", "Number of open file descriptors.") { _ in openDescriptors },
        gauge("max_fds", "Maximum number of open file descriptors.") { _ in descriptorLimit },
        gauge("virtual_memory_bytes", "Virtual memory size in bytes.") { $0.usage?.virtualBytes },
        gauge("resident_memory_bytes", "Resident memory size in bytes.") {
            $0.usage.map { $0.residentPages * Int64(sysconf(Int32(_SC_PAGESIZE))) }
        },
        gauge("threads", "Number of OS threads in the process.") { $0.usage?.threads },
        gauge("start_time_seconds", "Start time of the process since unix epoch in seconds.") {
            $0.startedAt.secondsSinceEpoch
        },
    ]

    private static func gauge(
        _ name: String, _ help: String, _ value: @escaping @Sendable (Status) -> Int64?
    ) -> Metric<Status> {
        Metric(name: "process_" + name, help: help, kind: .gauge, labels: []) {
            value($0).map { [([], String($0))] } ?? []
        }
    }

    /// Without the descriptor that is opened here to count them.
    private static var openDescriptors: Int64? {
        let descriptors = ForeignFile.names(in: "/proc/self/fd", limit: .max)
        return descriptors.isEmpty ? nil : Int64(descriptors.count - 1)
    }

    private static var descriptorLimit: Int64? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int64(clamping: limit.rlim_cur)
    }
}
