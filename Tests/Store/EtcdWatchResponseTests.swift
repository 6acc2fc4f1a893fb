import Testing

@testable import Store

@Suite struct EtcdWatchResponseTests {
    private func receive(_ text: String, into stream: inout EtcdWatchResponse) -> EtcdWatchResponse.State {
        stream.receive(line: Array(text.utf8))
    }

    @Test func itTellsOfChangesOnceAllIsWatched() {
        var stream = EtcdWatchResponse(keys: 2)
        #expect(receive(#"{"result":{"header":{},"created":true}}"#, into: &stream) == .quiet)
        #expect(!stream.isComplete)
        #expect(receive("", into: &stream) == .quiet)
        #expect(receive(#"{"result":{"header":{},"watch_id":"1","created":true}}"#, into: &stream) == .quiet)
        #expect(stream.isComplete)
        #expect(receive(#"{"result":{"header":{},"events":[{"kv":{}}]}}"#, into: &stream) == .changed)
    }

    @Test(arguments: [
        #"{"result":{"created":true,"canceled":true,"cancel_reason":"permission denied"}}"#,
        #"{"result":{"canceled":true,"compact_revision":"7"}}"#,
        #"{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader"}}"#, "<html>",
        #"{"result":{"events":[\#(String(repeating: "0,", count: 5_000))0]}}"#,
    ])
    func itEnds(text: String) {
        var stream = EtcdWatchResponse(keys: 1)
        #expect(receive(text, into: &stream) == .ended)
    }
}
