import Failures
import Testing

/// Which limit an error number means, and how that limit is raised.
@Suite struct ProcessLimitTests {
    private static let tasks: Int32 = 11
    private static let memory: Int32 = 12
    private static let descriptorsOfMachine: Int32 = 23
    private static let descriptors: Int32 = 24

    @Test(arguments: [
        (tasks, FailureCode.outOfTasks, "TasksMax= or LimitNPROC="), (memory, .outOfMemory, "MemoryMax="),
        (descriptors, .outOfDescriptors, "LimitNOFILE="), (descriptorsOfMachine, .outOfDescriptors, "fs.file-max"),
    ])
    func eachLimitHasItsOwnRemedy(number: Int32, code: FailureCode, setting: String) throws {
        let limit = try #require(ProcessLimit(reached: number, isStart: true))
        #expect(limit.code == code && code.traits.contains([.ofLimit, .ofReader]))
        let remedy = code.remedy(for: FailureSubject(cause: number))
        #expect(remedy == limit.remedy(for: nil))
        #expect(remedy?.description.contains(setting) == true)
        let ofMachine = number == Self.descriptorsOfMachine
        #expect(limit.remedy(for: "a.service").description.contains("of a.service") != ofMachine)
        #expect(remedy?.description.contains("of the daemon's unit") != ofMachine)
    }

    /// A file or socket means something else by EAGAIN.
    @Test func onlyAStartMeansALimitByEAGAIN() {
        #expect(ProcessLimit(reached: Self.tasks) == nil)
        #expect(ProcessLimit(reached: Self.memory) == .memory)
        for number in [nil, 2, 13] as [Int32?] { #expect(ProcessLimit(reached: number, isStart: true) == nil) }
    }
}
