import Foundation
import TestSupport
import Testing

@testable import Daemon

/// Who reads standard error, and therefore what a line begins with.
@Suite struct LogTests {
    @Test func theTargetIsTheReaderOfStandardError() throws {
        let directory = try TemporaryDirectory()
        let pipe = Pipe()
        let writing = pipe.fileHandleForWriting.fileDescriptor
        let file = try unsafe open(directory.write("", to: "log"), O_WRONLY)
        let terminal = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        let nowhere = unsafe open("/dev/null", O_WRONLY)
        let full = unsafe open("/dev/full", O_WRONLY)
        defer { for descriptor in [file, terminal, nowhere, full] { close(descriptor) } }
        #expect(terminal >= 0)
        var status = stat()
        #expect(unsafe fstat(writing, &status) == 0)
        let stream = "\(status.st_dev):\(status.st_ino)"
        let rows: [(what: Comment, descriptor: Int32, stream: String?, isService: Bool, target: Log.Target)] = [
            ("a file, which people read", file, nil, true, .plain), ("a terminal", terminal, nil, true, .plain),
            ("a pipe without systemd", writing, nil, false, .plain),
            ("a service's pipe", writing, nil, true, .prefixed),
            ("nothing", -1, nil, true, .plain), ("a service's other device", full, nil, true, .prefixed),
            ("what systemd gives a service without a journal", nowhere, nil, true, .journalAlone),
            ("the same without systemd", nowhere, nil, false, .plain), ("the journal", writing, stream, true, .journal),
            ("sent elsewhere since systemd set it up", writing, stream + "1", false, .plain),
        ]
        for row in rows {
            let target = Log.target(of: row.descriptor, journalStream: row.stream, isService: row.isService)
            #expect(target == row.target, row.what)
        }
        try pipe.fileHandleForWriting.close()
    }

    /// A journal that takes each line, but slowly, would hold the loop for as long as there are lines.
    @Test func aStepWaitsForASecondAtMostHoweverManyLinesItLogs() throws {
        let pipe = Pipe()
        let (reading, writing) = (pipe.fileHandleForReading.fileDescriptor, pipe.fileHandleForWriting.fileDescriptor)
        // Room for one line.
        let setPipeSize: Int32 = 1031
        #expect(fcntl(writing, setPipeSize, 4_096) == 4_096)
        let lines = 20
        let reader = Thread {
            var line = [UInt8](repeating: 0, count: 4_096)
            while unsafe read(reading, &line, line.count) > 0 { usleep(300_000) }
        }
        reader.start()
        let timeout = LogTimeout()
        let line = [UInt8](repeating: 0x78, count: 4_096)
        func logged() -> Int {
            var count = 0
            for _ in 0..<lines {
                guard timeout.wait(for: writing) else {
                    timeout.lose()
                    continue
                }
                #expect(unsafe write(writing, line, line.count) == line.count)
                count += 1
            }
            return count
        }
        let first = logged()
        #expect(first >= 1 && first < lines, "\(first) of \(lines)")
        #expect(timeout.takeLost() == lines - first)
        try pipe.fileHandleForWriting.close()
    }
}
