import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Outputs
import Synchronization
import TestSupport
import Testing

/// Others read and edit the files while they are published. In memory: what a disk does is not the point here.
@Suite struct PublisherRaceTests {
    @Test func aReaderSeesOneWholeSecretOrAnother() throws {
        let scratch = try TemporaryDirectory(in: "/dev/shm")
        let publisher = Samples.publisher()
        let paths = [scratch("web.jwt"), scratch("app.env"), scratch("web.json")]
        let files = [
            try Samples.file(paths[0]), try Samples.file(paths[1], .env), try Samples.file(paths[2], .json),
        ]
        let count = 150
        let secrets = try (0..<count).map { try Samples.secret($0) }
        try scratch.write("A=1\nSECRET=\(Samples.text(secrets[0]))\nB=2\n", to: "app.env")
        func publish(_ number: Int, _ file: Int) throws {
            let slot = file == 1 ? FileSlot.variable("SECRET") : .whole
            _ = try publisher.publish([slot: secrets[number]], in: files[file])
        }
        for file in files.indices { try publish(0, file) }
        var valid: [Set<Data>] = [[], [], []]
        for secret in secrets {
            let text = Samples.text(secret)
            valid[0].insert(Data(text.utf8))
            valid[1].insert(Data("A=1\nSECRET=\(text)\nB=2\n".utf8))
            valid[2].insert(Data(Samples.json(secret)))
        }
        let expected = valid
        let torn = Mutex<[String]>([])
        let reads = Atomic(0)
        let readers = (0..<paths.count).map { index in
            let path = paths[index]
            return Repetition {
                let data = FileManager.default.contents(atPath: path)
                if !expected[index].contains(data ?? Data()) {
                    torn.withLock { $0.append("\(path): \(data?.count ?? -1) bytes") }
                }
                reads.add(1, ordering: .relaxed)
                usleep(300)
            }
        }
        defer { for reader in readers { reader.stop() } }
        // However seldom the readers get their turn, they have read a hundred times meanwhile.
        var number = 1
        while number < count || reads.load(ordering: .relaxed) < 100 {
            try publish(number % count, number % files.count)
            number += 1
        }
        #expect(torn.withLock { $0 } == [])
    }

    @Test func aSecretReportedAsWrittenIsThere() throws {
        let scratch = try TemporaryDirectory(in: "/dev/shm")
        let publisher = Samples.publisher()
        let path = scratch("app.env")
        let file = try Samples.file(path, .env)
        try scratch.write("A=1\n", to: "app.env")
        // Touches the file all the time, so that it is another one in many of the moments in which it is to be replaced.
        let toucher = Repetition {
            let times = [timespec](repeating: timespec(tv_sec: 1, tv_nsec: Int.random(in: 0..<1_000_000_000)), count: 2)
            _ = unsafe utimensat(AT_FDCWD, path, times, 0)
            usleep(UInt32.random(in: 0..<10_000))
        }
        defer { toucher.stop() }
        for number in 0..<20 {
            let secret = try Samples.secret(number)
            do throws(Failure) {
                let done = try publisher.publish([.variable("SECRET"): secret], in: file)
                #expect(done.fingerprint(.variable("SECRET")) == secret.token.fingerprint)
            } catch {
                #expect(error == Failure(.changedMeanwhile, at: .path(file.path)))
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["app.env"])
    }
}
