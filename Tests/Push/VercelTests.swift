import TestSupport
import Testing

/// What is particular to Vercel, against the stand-in.
@Suite(.waits, .needs(.venv)) struct VercelTests {
    private static let target = StandInTests.target("vercel")

    /// Vercel never changes a variable's environments by itself.
    @Test(arguments: [
        (["production", "preview", "development"], "push_environments_conflict"), (["production"], nil),
        (["preview"], nil),
    ])
    func aVariableForOtherEnvironmentsIsNamed(environments: [String], code: String?) throws {
        let api = try PushBed(script: "stand-in.py")
        try api.directory.write(environments.joined(separator: " "), to: "environments")
        let answer = try api.ask("publish", Self.target)
        #expect(answer.code == code)
        if code != nil {
            #expect(answer.detail == "it is set for development, preview, production")
            #expect(api.requests.allSatisfy { $0.hasPrefix("GET ") }, "\(api.requests)")
        }
    }

    /// The API shows the value of a variable of type plain.
    @Test func aPrivateKeyInAVariableThatIsShownIsNotOverwritten() throws {
        let api = try PushBed(script: "stand-in.py")
        try api.directory.write("-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n", to: "plain")
        let answer = try api.ask("publish", Self.target)
        #expect(answer.code == "push_place_unsuitable")
        #expect(answer.detail == "it holds a private key, which is never overwritten")
        #expect(api.requests.allSatisfy { $0.hasPrefix("GET ") }, "\(api.requests)")
        // Anything else becomes a sensitive one.
        try api.directory.write("changeme", to: "plain")
        #expect(try api.ask("publish", Self.target) == .init(result: "published"))
        #expect(api.held == PushBed.secrets[0])
    }

    /// A part of a list says nothing of what is not in it.
    @Test func listsAreReadToTheirEnd() throws {
        let api = try PushBed(script: "stand-in.py")
        let target = Self.target + ", redeploy: true"
        try api.directory.write("", to: "pages")
        _ = try api.ask("publish", target)
        for ready in [false, false, true] { #expect(try api.ask("redeploy", target).ready == ready) }
        try api.directory.write("preview development", to: "environments")
        #expect(
            try api.ask("publish", Self.target + ", environments: [preview]").code == "push_environments_conflict")
        try api.directory.write("endless", to: "pages")
        #expect(try api.ask("redeploy", target).code == "push_answer_unexpected")
    }

    /// Where new deployments are not given the production domains, the old secret is still in use.
    @Test func aDeploymentThatWasNotPromotedIsNotRunning() throws {
        let api = try PushBed(script: "stand-in.py")
        let target = Self.target + ", redeploy: true"
        _ = try api.ask("publish", target)
        try api.directory.write("STAGED", to: "ends")
        for _ in 1...4 {
            #expect(try api.ask("redeploy", target) == .init(result: "redeployed", ready: false))
        }
    }
}
