import TestSupport
import Testing

/// What is particular to Netlify, against the stand-in.
@Suite(.waits, .needs(.venv)) struct NetlifyTests {
    private static let target = StandInTests.target("netlify")
    private static let env = "/api/v1/accounts/shop/env"

    private func held(_ api: PushBed, secret isSecret: Bool, _ values: String) throws {
        try api.directory.write(
            #"{"key":"APPLE_SECRET","is_secret":\#(isSecret),"scopes":["functions"],"values":[\#(values)]}"#,
            to: "variable")
    }

    /// For the context alone, so that nobody reads it in the settings.
    @Test func aVariableThatIsMissingIsCreatedAsSecret() throws {
        let api = try PushBed(script: "stand-in.py")
        for secret in PushBed.secrets {
            #expect(try api.ask("publish", Self.target, secret: secret) == .init(result: "published"))
        }
        #expect(
            api.requests == [
                "GET \(Self.env)/APPLE_SECRET 404", "GET /api/v1/sites/site-1 200", "POST \(Self.env) 201",
                "GET \(Self.env)/APPLE_SECRET 200", "GET \(Self.env)/APPLE_SECRET 200",
                "PATCH \(Self.env)/APPLE_SECRET 201", "GET \(Self.env)/APPLE_SECRET 200",
            ])
        #expect(try api.directory.read("variable").contains(#""is_secret": true"#))
    }

    /// Elsewhere it would be a variable that the site does not have. The API also finds a site by its domain, and may not know
    /// the variables of such a one.
    @Test(arguments: [
        ("other", "this token cannot see whether the site exists"),
        ("shop.example.com", "id is site-1, and \"site\" has to be that id"),
    ])
    func nothingIsCreatedForAnotherSite(site: String, words: String) throws {
        let api = try PushBed(script: "stand-in.py")
        let answer = try api.ask("publish", Self.target.replacing("site-1", with: site))
        #expect(answer.code == "push_place_missing")
        #expect(answer.detail?.contains(words) == true, "\(answer)")
        #expect(api.requests.allSatisfy { $0.hasPrefix("GET ") }, "\(api.requests)")
    }

    @Test func aVariableThatIsShownIsVerified() throws {
        let api = try PushBed(script: "stand-in.py")
        let others =
            #"{"context":"dev","value":"local"},{"context":"branch","context_parameter":"staging","value":"old"}"#
        try held(api, secret: false, others + #",{"context":"dev-server","value":"agent"}"#)
        #expect(try api.ask("read", Self.target) == .init(result: "read", holds: false))
        #expect(try api.ask("publish", Self.target) == .init(result: "published", verified: true))
        #expect(try api.ask("read", Self.target) == .init(result: "read", holds: true))
        // What it is elsewhere stays, and so does for what it is.
        let kept = try api.directory.read("variable")
        for part in [
            #""context_parameter": "staging", "value": "old""#, #""value": "local""#, #""value": "agent""#,
            #""scopes": ["functions"]"#, #""is_secret": false"#,
        ] {
            #expect(kept.contains(part), "\(kept)")
        }
        try api.order("PATCH lie")
        #expect(
            try api.ask("publish", Self.target, secret: PushBed.secrets[1])
                == .init(result: "published", verified: false))
    }

    /// What a deploy gets then is not documented, nor what the other contexts keep. Its own value may be ours.
    @Test(arguments: ["", #",{"context":"production","value":"old"}"#, #",{"context":"production","value":"SECRET"}"#])
    func aValueForAllContextsIsNotChanged(own: String) throws {
        let api = try PushBed(script: "stand-in.py")
        try held(
            api, secret: false,
            #"{"context":"all","value":"shared"}"# + own.replacing("SECRET", with: PushBed.secrets[0]))
        let before = try api.directory.read("variable")
        #expect(try api.ask("read", Self.target) == .init(result: "read", holds: false))
        let answer = try api.ask("publish", Self.target)
        #expect(answer.code == "push_environments_conflict")
        #expect(answer.detail == "it has one value for all deploy contexts")
        #expect(try api.directory.read("variable") == before)
    }

    @Test func aLimitOfThePlanIsNamed() throws {
        let api = try PushBed(script: "stand-in.py")
        try api.directory.write("free", to: "plan")
        let answer = try api.ask("publish", Self.target)
        #expect(answer.code == "push_change_refused")
        #expect(answer.detail == "it answered 403: Upgrade your Netlify account to set specific scopes")
    }

    /// A person has stopped auto publishing, so that what runs has the old one.
    @Test func aDeployThatIsNotPublishedIsNotReady() throws {
        let api = try PushBed(script: "stand-in.py")
        try api.directory.write("unpublished", to: "ends")
        _ = try api.ask("publish", Self.target)
        for _ in 1...4 {
            #expect(
                try api.ask("redeploy", Self.target + ", redeploy: true") == .init(result: "redeployed", ready: false))
        }
        #expect(api.requests.count { $0.hasPrefix("POST /api/v1/sites/site-1/builds ") } == 1)
    }
}
