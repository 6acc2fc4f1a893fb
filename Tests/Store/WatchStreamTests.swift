import Testing

@testable import Store

@Suite struct WatchStreamTests {
    private func receive(_ text: String, into stream: inout WatchStream) -> WatchStream.State {
        stream.receive(Array(text.utf8))
    }

    @Test func itTellsOfChangesOnceAllIsWatched() {
        var stream = WatchStream(keys: 2)
        #expect(receive(#"{"result":{"header":{},"created":true}}"# + "\n", into: &stream) == .quiet)
        #expect(!stream.isComplete)
        #expect(receive(#"{"result":{"header":{},"watch_id":"1","#, into: &stream) == .quiet)
        #expect(receive(#""created":true}}"# + "\n", into: &stream) == .quiet)
        #expect(stream.isComplete)
        #expect(receive(#"{"result":{"header":{},"events":[{"kv":{}}]}}"# + "\n", into: &stream) == .changed)
    }

    @Test(arguments: [
        #"{"result":{"created":true,"canceled":true,"cancel_reason":"permission denied"}}"# + "\n",
        #"{"result":{"canceled":true,"compact_revision":"7"}}"# + "\n",
        #"{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader"}}"# + "\n", "<html>\n",
        String(repeating: "x", count: 70_000),
    ])
    func itEnds(text: String) {
        var stream = WatchStream(keys: 1)
        #expect(receive(text, into: &stream) == .ended)
    }
}
