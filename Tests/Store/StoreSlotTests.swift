import AppleClientSecret
import Testing

@testable import Store

@Suite struct StoreSlotTests {
    @Test func aSlotIsNamedByTeamClientAndKey() throws {
        let team = try #require(TeamID("DEF123GHIJ"))
        let client = try #require(ClientID("com.example.web_1"))
        let slot = StoreSlot(team: team, client: client, keyDigest: "000aff10050607080900")
        #expect(slot.description == "DEF123GHIJ/com.example.web_1/000aff1005060708")
        #expect(StoreSlot(slot.description) == slot)
    }

    @Test func clientsOfOtherKindsHaveSlotsOfTheirOwn() throws {
        let team = try #require(TeamID("DEF123GHIJ"))
        let texts = ["music:", "music:https://a.example", "maps::", "maps:server_api:", "com.example.web"]
        let slots = try texts.map {
            StoreSlot(team: team, client: try #require(ClientID($0)), keyDigest: "000aff1005060708")
        }
        #expect(Set(slots.map(\.description)).count == texts.count)
        #expect(slots[1].description == "DEF123GHIJ/music%3Ahttps%3A%2F%2Fa.example/000aff1005060708")
        for slot in slots { #expect(StoreSlot(slot.description) == slot) }
    }

    @Test(arguments: [
        "DEF123GHIJ/music:/000aff1005060708", "DEF123GHIJ/com%2Eexample/000aff1005060708",
        "", "DEF123GHIJ/a", "DEF123GHIJ/a/000aff100506070", "DEF123GHIJ/a/000AFF1005060708", "def/a/000aff1005060708",
        "DEF123GHIJ/a/b/000aff1005060708", "DEF123GHIJ/a%2Fb/000aff1005060708", "DEF123GHIJ//000aff1005060708",
    ])
    func otherValuesAreNoSlot(text: String) {
        #expect(StoreSlot(text) == nil)
    }
}
