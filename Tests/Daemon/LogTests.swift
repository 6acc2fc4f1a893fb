import Foundation
import TestSupport
import Testing

@testable import Daemon

/// Who reads standard error, and therefore what a line begins with.
@Suite struct LogTests {
    @Test func aPersonSeesNoUrgency() throws {
        let directory = try TemporaryDirectory()
        let file = try unsafe open(directory.write("", to: "log"), O_WRONLY)
        let terminal = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        defer { for descriptor in [file, terminal] { close(descriptor) } }
        #expect(terminal >= 0)
        for descriptor in [file, terminal] {
            #expect(Log.target(of: descriptor, journalStream: nil, isService: true) == .plain)
        }
        let pipe = Pipe()
        #expect(
            Log.target(of: pipe.fileHandleForWriting.fileDescriptor, journalStream: nil, isService: false) == .plain)
        #expect(Log.target(of: -1, journalStream: nil, isService: true) == .plain)
    }

    @Test func aServicesReaderSeesIt() {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        #expect(Log.target(of: descriptor, journalStream: nil, isService: true) == .prefixed)
    }

    /// What systemd falls back on where the journal cannot be reached.
    @Test func aServiceWithoutAnyLogTriesTheJournal() {
        let nowhere = unsafe open("/dev/null", O_WRONLY)
        let full = unsafe open("/dev/full", O_WRONLY)
        defer { for descriptor in [nowhere, full] { close(descriptor) } }
        #expect(Log.target(of: nowhere, journalStream: nil, isService: true) == .journalAlone)
        #expect(Log.target(of: nowhere, journalStream: nil, isService: false) == .plain)
        #expect(Log.target(of: full, journalStream: nil, isService: true) == .prefixed)
    }

    @Test func theJournalIsRecognisedByDeviceAndInode() {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        var status = stat()
        #expect(unsafe fstat(descriptor, &status) == 0)
        let stream = "\(status.st_dev):\(status.st_ino)"
        #expect(Log.target(of: descriptor, journalStream: stream, isService: true) == .journal)
        // Sent elsewhere since systemd set it up.
        #expect(Log.target(of: descriptor, journalStream: stream + "1", isService: false) == .plain)
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
