import Testing

@testable import Store

@Suite struct MemberChoiceTests {
    @Test func anotherMemberAfterEachFailureAndThenAPause() {
        var members = MemberChoice(count: 3, at: 0) { _ in 0 }
        #expect(members.current == 0)
        members.loggedIn("t")
        let most: (Int64) -> Int64 = { $0 - 1 }
        var bounds: [Int64] = []
        var now: Int64 = 0
        for round in 0..<12 {
            let second = members.memberFailed(at: now, random: most)
            #expect(members.token == nil)
            let third = members.memberFailed(at: now, random: most)
            #expect(members.pause(at: now) == 0)
            let fourth = members.memberFailed(at: now, random: most)
            #expect([second, third, fourth] == [true, true, false])
            #expect(members.current == 0, "round \(round)")
            bounds.append(members.pause(at: now))
            now += members.pause(at: now)
            #expect(members.pause(at: now) == 0)
        }
        #expect(bounds.prefix(4) == [1_000, 2_000, 4_000, 8_000])
        #expect(bounds.max() == 300_000)
        #expect(bounds.last == 300_000)
        members.succeeded()
        members.refused(at: now, random: most)
        #expect(members.pause(at: now) == 1_000)
    }

    @Test func pausesAreRandomFromNothingOn() {
        var members = MemberChoice(count: 1, at: 0) { _ in 0 }
        _ = members.memberFailed(at: 0) { _ in 0 }
        #expect(members.pause(at: 0) == 0)
    }

    @Test func loginsWaitLonger() {
        var members = MemberChoice(count: 2, at: 0) { _ in 0 }
        var bounds: [Int64] = []
        for number in 1...12 {
            members.loginFailed(at: 0) { $0 - 1 }
            #expect(members.current == number % 2)
            bounds.append(members.pause(at: 0))
        }
        #expect(bounds.prefix(2) == [10_000, 20_000])
        #expect(bounds.last == 3_600_000)
        members.loggedIn("t")
        members.loginFailed(at: 0) { $0 - 1 }
        #expect(members.pause(at: 0) == 10_000)
    }

    @Test func anotherMemberEachHour() {
        var members = MemberChoice(count: 2, at: 0) { bound in bound == 2 ? 1 : 600_000 }
        #expect(members.current == 1)
        members.loggedIn("t")
        members.begin(at: 2_999_999)
        #expect(members.current == 1)
        members.begin(at: 3_000_000)
        #expect(members.current == 0)
        #expect(members.token == nil)
        members.begin(at: 6_599_999)
        #expect(members.current == 0)
        members.begin(at: 6_600_000)
        #expect(members.current == 1)
    }
}
