import Foundation
import TestSupport
import Testing

/// The kinds whose variables act with the next deployment only, against the stand-in.
@Suite(.waits, .needs(.venv)) struct RedeploymentTests {
    struct Kind: CustomTestStringConvertible, Sendable {
        let name: String
        /// The request that deploys.
        let request: String
        /// How a deployment can end without running, and what that means.
        let ends: [(state: String, code: String, words: String)]
        /// Lists of another form.
        let lists: [String]

        var testDescription: String { name }
        var target: String { StandInTests.target(name) + ", redeploy: true" }
        func deployments(_ api: PushBed) -> Int { api.requests.count { $0.hasPrefix(request + " ") } }
    }

    static let kinds = [
        Kind(
            name: "vercel", request: "POST /v13/deployments",
            ends: [
                ("ERROR", "push_deployment_failed", "ERROR"), ("CANCELED", "push_deployment_cancelled", "CANCELED"),
            ],
            lists: [
                "{}", "[]", #"{"deployments": null}"#, #"{"deployments": [{"uid": "dpl_1"}]}"#,
                #"{"deployments": [{"uid": "dpl_1", "readyState": "QUEUED", "createdAt": -9223372036854775808}]}"#,
            ]),
        Kind(
            name: "netlify", request: "POST /api/v1/sites/site-1/builds",
            ends: [
                ("error", "push_deployment_failed", "error"),
                ("skipped", "push_deployment_cancelled", "error: Canceled build due to no content change"),
            ],
            lists: [
                "{}", "null", #"[{"id": "1"}]"#, #"[{"state": "ready", "created_at": "yesterday"}]"#,
                #"[{"state": "ready", "created_at": "@9223372036854775807"}]"#,
            ]),
    ]

    /// Once for each secret, and it is told when that runs.
    @Test(arguments: kinds)
    func deploysAgain(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        for (number, secret) in PushBed.secrets.enumerated() {
            #expect(try api.ask("publish", kind.target, secret: secret).result == "published")
            #expect(kind.deployments(api) == number)
            for ready in [false, false, true, true] {
                #expect(try api.ask("redeploy", kind.target) == .init(result: "redeployed", ready: ready))
                #expect(kind.deployments(api) == number + 1)
            }
        }
    }

    // MARK: An API that is late

    private func late(_ api: PushBed, _ what: String, _ seconds: String) throws {
        try api.directory.write(seconds, to: "late-" + what)
    }

    /// What a read shows of the variable is from before our write.
    @Test(arguments: kinds)
    func aDeploymentFromBeforeOurWriteLacksTheNewSecret(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        api.remembers = true
        _ = try api.ask("publish", kind.target)
        for ready in [false, false, true] { #expect(try api.ask("redeploy", kind.target).ready == ready) }
        // An API's clock shows whole seconds.
        Thread.sleep(forTimeInterval: 1.1)
        try late(api, "variables", "1")
        #expect(try api.ask("publish", kind.target, secret: PushBed.secrets[1]).result == "published")
        #expect(try api.ask("redeploy", kind.target).ready == false)
        #expect(kind.deployments(api) == 2)
        #expect(try api.ask("redeploy", kind.target).ready == false)
        #expect(try api.ask("redeploy", kind.target).ready == true)
        #expect(kind.deployments(api) == 2)
    }

    /// It was set a moment ago.
    @Test(arguments: kinds)
    func aVariableThatIsNotShownYetIsWaitedFor(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        api.remembers = true
        _ = try api.ask("publish", kind.target)
        try late(api, "variables", "3600")
        #expect(try api.ask("redeploy", kind.target) == .init(result: "redeployed", ready: false))
        #expect(kind.deployments(api) == 0)
        try late(api, "variables", "0")
        #expect(try api.ask("redeploy", kind.target).ready == false)
        #expect(kind.deployments(api) == 1)
    }

    /// An API that shows a deployment late, does not know it, or whose clock is behind.
    @Test(arguments: kinds)
    func oneThatIsNotListedIsNotBegunAgain(kind: Kind) throws {
        for (files, isReady) in [
            (["late-deployments": "3600"], true), (["clock-behind": "2000"], true),
            (["late-deployments": "3600", "unknown-deployments": ""], false),
        ] {
            let api = try PushBed(script: "stand-in.py")
            api.remembers = true
            for (name, text) in files { try api.directory.write(text, to: name) }
            _ = try api.ask("publish", kind.target)
            var last: Bool?
            for _ in 1...4 { last = try api.ask("redeploy", kind.target).ready }
            #expect(last == isReady, "\(files)")
            #expect(kind.deployments(api) == 1, "\(files)")
        }
    }

    /// It is ready, and the one before it serves again: the application has the old secret.
    @Test(arguments: kinds)
    func aRollbackHasNoNewSecret(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        _ = try api.ask("publish", kind.target)
        for _ in 1...2 { #expect(try api.ask("redeploy", kind.target).ready == false) }
        try api.directory.write("an-older-one", to: "serving")
        #expect(try api.ask("redeploy", kind.target).ready == false)
        #expect(kind.deployments(api) == 1)
        try FileManager.default.removeItem(atPath: api.directory("serving"))
        #expect(try api.ask("redeploy", kind.target).ready == true)
    }

    @Test(arguments: kinds)
    func aDeploymentThatFails(kind: Kind) throws {
        for end in kind.ends {
            let api = try PushBed(script: "stand-in.py")
            _ = try api.ask("publish", kind.target)
            try api.directory.write(end.state, to: "ends")
            for _ in 1...2 { #expect(try api.ask("redeploy", kind.target).ready == false) }
            for _ in 1...2 {
                let answer = try api.ask("redeploy", kind.target)
                #expect(answer.code == end.code)
                #expect(answer.detail == "its state is \(end.words)")
            }
            #expect(kind.deployments(api) == 1)
        }
    }

    /// Taken for an empty list it would have the project deployed again and again.
    @Test(arguments: kinds)
    func nothingIsDeployedAfterAListOfAnotherForm(kind: Kind) throws {
        for list in kind.lists {
            let api = try PushBed(script: "stand-in.py")
            _ = try api.ask("publish", kind.target)
            try api.directory.write(list, to: "deployments")
            #expect(try api.ask("redeploy", kind.target).code == "push_answer_unexpected", "\(list)")
            #expect(kind.deployments(api) == 0)
        }
    }

    @Test(arguments: kinds)
    func nothingIsDeployedWithoutTheVariable(kind: Kind) throws {
        let api = try PushBed(script: "stand-in.py")
        #expect(try api.ask("redeploy", kind.target).code == "push_place_missing")
        #expect(kind.deployments(api) == 0)
    }

    @Test func aKindWhoseSecretsActAtOnceIsNotDeployed() throws {
        let api = try PushBed(script: "stand-in.py")
        #expect(try api.ask("redeploy", StandInTests.target("supabase")).code == "push_unconfigured")
    }
}
