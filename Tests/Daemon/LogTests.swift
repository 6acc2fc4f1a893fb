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
}
