import Linux
import Testing

@Suite struct LocalServiceTests {
    @Test(arguments: [
        ("/run/clientsecretd/status.sock", "/run/clientsecretd/verify.sock"), ("/status.sock", "/verify.sock"),
        ("run/status.sock", "run/verify.sock"), ("status.sock", "./verify.sock"),
    ])
    func socketsAreNextToTheStatusSocket(status: String, path: String) {
        #expect(LocalService.path("verify.sock", nextTo: status) == path)
    }
}
