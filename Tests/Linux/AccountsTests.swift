import Glibc
import TestSupport
import Testing

@testable import Linux

struct AccountsTests {
    @Test func knowsWhatTheAccountDatabaseKnows() throws {
        for line in try run(["getent", "passwd"]).output.split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let expected = Account(
                name: fields[0], id: try #require(UInt32(fields[2])), primaryGroup: try #require(UInt32(fields[3])))
            #expect(try Accounts.user(named: fields[0]) == expected)
            #expect(try Accounts.userID(fields[0]) == expected.id)
            #expect(try Accounts.user(id: expected.id)?.id == expected.id)
        }
        for line in try run(["getent", "group"]).output.split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let expected = Group(name: fields[0], id: try #require(UInt32(fields[2])))
            #expect(try Accounts.group(named: fields[0]) == expected)
            #expect(try Accounts.groupID(fields[0]) == expected.id)
            #expect(try Accounts.group(id: expected.id)?.id == expected.id)
        }
        #expect(try Accounts.user(id: 0) == Account(name: "root", id: 0, primaryGroup: 0))
    }

    @Test func anUnknownNameIsNoUserAndNoError() throws {
        #expect(try Accounts.user(named: "no-such-user") == nil)
        #expect(try Accounts.group(named: "no-such-group") == nil)
        #expect(try Accounts.user(id: 3_999_999_999) == nil)
        #expect(try Accounts.group(id: 3_999_999_999) == nil)
        #expect(try Accounts.userID("no-such-user") == nil)
        #expect(try Accounts.groupID("") == nil)
    }

    @Test func aNumberNeedsNoEntry() throws {
        #expect(try Accounts.userID("3999999999") == 3_999_999_999)
        #expect(try Accounts.groupID("0") == 0)
        for wrong in ["-1", "+1", "1.0", "4294967295", "4294967296", " 1", "0x10", "１"] {
            #expect(try Accounts.userID(wrong) == nil)
        }
    }

    @Test(.needs(.root)) func aThreadThatActedAsAnotherUserIsAsBefore() throws {
        let nobody = try #require(try Accounts.user(named: "nobody"))
        let before = Identity.current()
        let meanwhile = try ThreadUser.perform(as: nobody) { Identity.current() }
        #expect(meanwhile.user == nobody.id && meanwhile.groups == [nobody.primaryGroup])
        #expect(Identity.current() == before)
        var inUnit = nobody
        (inUnit.primaryGroup, inUnit.addedGroups) = (7, [8, 9])
        let there = try ThreadUser.perform(as: inUnit) { Identity.current() }
        #expect(there.group == 7 && there.groups == [7, 8, 9])
        #expect(Identity.current() == before)
    }
}
