import Foundation
import TestSupport
import Testing

/// A whole sign-in by the commands alone, and what can be wrong at each step.
@Suite struct SignInTests {
    private let own: Operator
    private let apple: StandIn

    init() throws {
        own = try Operator()
        apple = try own.standIn()
    }

    /// The address of a request, kept in a file, whose path is returned.
    private func request(_ more: String...) throws -> String {
        let printed = try run(
            [
                own.binary, "authorize-url", "web", "--redirect-uri", Operator.returnURL, "--endpoint", apple.address,
                "--config", own.configuration,
            ] + more)
        try #require(printed.status == 0, "\(printed.complaints)")
        return try own.directory.write(printed.output, to: "sign-in.url")
    }

    /// What the browser would post to the return address after the user has signed in.
    private func comesBack(_ request: String) throws -> String {
        let address = try String(contentsOfFile: request, encoding: .utf8).trimmingCharacters(in: .newlines)
        let page = try run([
            "curl", "--silent", "--show-error", "--fail", "--noproxy", "*", "--cacert", apple.authority, "--header",
            "Accept: application/x-www-form-urlencoded", address,
        ])
        try #require(page.status == 0, "\(page.complaints)")
        return page.output
    }

    private func fields(_ form: String) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: form.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), String(parts.last ?? "").removingPercentEncoding ?? "")
            })
    }

    @Test func allOfIt() throws {
        let request = try request("--scope", "name", "email", "--response-type", "code id_token")
        let form = try comesBack(request)
        let tokens = own.directory("tokens.json")
        let exchanged = try own.ask(apple, "exchange", "web", "--request", request, "--save", tokens, input: form)
        #expect(exchanged.status == 0, "\(exchanged.complaints)")
        #expect(exchanged.output.contains("user: Johanna Appel, standin@privaterelay.appleid.com"))
        #expect(exchanged.output.contains("identity token with the code: good"))
        #expect(exchanged.output.contains("\nidentity token: good"))

        let attributes = try FileManager.default.attributesOfItem(atPath: tokens)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let kept = try object(own.directory.read("tokens.json"))
        #expect(Set(kept.keys) == ["access_token", "refresh_token", "id_token"])
        // Tokens are named by their fingerprints alone.
        for token in kept.values.compactMap({ $0 as? String }) { #expect(!exchanged.output.contains(token)) }

        #expect(try own.ask(apple, "id-token", "web", tokens).status == 0)
        let refreshed = try own.ask(apple, "refresh", "web", tokens)
        #expect(refreshed.status == 0 && refreshed.output.contains("access_token: sha256:"))
        #expect(!refreshed.output.contains("refresh_token"))
        #expect(try own.ask(apple, "revoke", "web", tokens).status == 0)
        let ended = try own.ask(apple, "refresh", "web", tokens)
        #expect(ended.status == 1)
        #expect(ended.complaints.contains("accepts the client secret but not the refresh token"))
        #expect(try apple.log().filter { $0.hasPrefix("/auth/revoke") } == ["/auth/revoke revoked"])
    }

    /// At the second sign-in Apple does not tell who it is, and without scopes the code stands in an address.
    @Test func theSimplestRequestIsAnsweredInAnAddress() throws {
        let request = try request()
        let address = try own.directory.read("sign-in.url")
        #expect(address.contains("response_mode=query") && address.contains("response_type=code&"))
        let code = fields(try comesBack(request))
        let returned = "\(Operator.returnURL)?state=\(code["state"] ?? "")&code=\(code["code"] ?? "")"
        let exchanged = try own.ask(apple, "exchange", "web", "--request", request, "--json", input: returned + "\n")
        #expect(exchanged.status == 0, "\(exchanged.complaints)")
        let answer = try object(exchanged.output)
        #expect(answer["user"] is NSNull)
        #expect((answer["identity_tokens"] as? [[String: Any]])?.map { $0["valid"] as? Bool } == [true])
        #expect((answer["tokens"] as? [String: String])?.values.allSatisfy { $0.hasPrefix("sha256:") } == true)
    }

    @Test func tokensAreShownWhenAskedFor() throws {
        let request = try request()
        let code = try #require(try fields(comesBack(request))["code"])
        let exchanged = try own.ask(
            apple, "exchange", "web", "--redirect-uri", Operator.returnURL, "--show-tokens", "--json", input: code)
        let tokens = try #require(try object(exchanged.output)["tokens"] as? [String: String])
        #expect(tokens["id_token"]?.hasPrefix("eyJ") == true && tokens["access_token"]?.hasPrefix("a") == true)
        let refreshed = try own.ask(apple, "refresh", "web", input: tokens["refresh_token"] ?? "")
        #expect(refreshed.status == 0)
    }

    @Test(arguments: ["--scope", "--response-type"])
    func aFormIsPostedWhereAppleWantsIt(flag: String) throws {
        let url = try String(
            contentsOfFile: request(flag, flag == "--scope" ? "email" : "code id_token"), encoding: .utf8)
        #expect(url.contains("response_mode=form_post"))
    }

    @Test func everyRequestHasAStateAndANonceOfItsOwn() throws {
        let first = try own.clientsecretd("authorize-url", "web", "--redirect-uri", Operator.returnURL, "--json")
        let second = try own.clientsecretd("authorize-url", "web", "--redirect-uri", Operator.returnURL, "--json")
        for name in ["state", "nonce"] {
            let values = try [first, second].compactMap { try object($0.output)[name] as? String }
            #expect(Set(values).count == 2 && values.allSatisfy { $0.count == 32 })
        }
        let url = try object(first.output)["url"] as? String ?? ""
        #expect(
            url.hasPrefix(
                "https://appleid.apple.com/auth/authorize?client_id=com.example.web&redirect_uri=https%3A%2F%2F"))
    }

    @Test(arguments: [
        ("http://example.com/callback", "https alone"), ("https://localhost/callback", "domain's name"),
        ("https://127.0.0.1/callback", "domain's name"), ("https://[::1]/callback", "domain's name"),
        ("https://example.com/callback#here", "fragment"), ("https://example.com/call back", "blanks"),
    ])
    func aReturnAddressThatAppleRefuses(address: String, words: String) throws {
        let finished = try own.clientsecretd("authorize-url", "web", "--redirect-uri", address)
        #expect(finished.status == 64)
        #expect(finished.complaints.contains(words), "\(finished.complaints)")
    }

    @Test func anotherStateIsNotExchanged() throws {
        let request = try request()
        let form = try comesBack(request)
        let other = form.replacingOccurrences(of: "state=", with: "state=x")
        let finished = try own.ask(apple, "exchange", "web", "--request", request, input: other)
        #expect(finished.status == 1)
        #expect(finished.complaints.contains("the state that came back is not the one that was sent"))
        #expect(try !apple.log().contains { $0.hasPrefix("/auth/token") })
        #expect(try own.ask(apple, "exchange", "web", "--request", request, input: form).status == 0)
    }

    @Test func anotherNonceIsNotAccepted() throws {
        let request = try request()
        let form = try comesBack(request)
        try apple.order("/auth/token nonce=other")
        let finished = try own.ask(apple, "exchange", "web", "--request", request, input: form)
        #expect(finished.status == 1)
        #expect(finished.output.contains("its nonce is not the one that was sent"))
    }

    @Test func theIssuerOfApplesMetadataIsNamed() throws {
        let request = try request()
        let form = try comesBack(request)
        try apple.order("/auth/token issuer=https://account.apple.com")
        let finished = try own.ask(apple, "exchange", "web", "--request", request, input: form)
        #expect(finished.status == 1)
        #expect(finished.output.contains("which Apple's metadata has named"))
    }

    /// What is wrong with the code is told apart from what is wrong with the secret.
    @Test func eachErrorIsExplained() throws {
        let request = try request()
        let form = try comesBack(request)
        let wrong = try own.ask(apple, "exchange", "web", "--redirect-uri", Operator.returnURL, input: "nobodys")
        #expect(wrong.complaints.contains("invalid_grant: Apple accepts the client secret but not the code"))
        try apple.setClock(400)
        let late = try own.ask(apple, "exchange", "web", "--request", request, input: form)
        #expect(late.status == 1 && late.complaints.contains("five minutes"))
        #expect(try apple.log().last?.hasSuffix("the code has expired") == true)
        try apple.setClock(0)
        let code = try #require(try fields(comesBack(request))["code"])
        let elsewhere = try own.ask(
            apple, "exchange", "web", "--redirect-uri", "https://example.com/other", input: code)
        #expect(elsewhere.complaints.contains("invalid_client: Apple refuses the client secret"))
        #expect(elsewhere.complaints.contains("the return address is not the one"))
        for (error, words) in [
            ("invalid_request", "missing, doubled or malformed"), ("unauthorized_client", "may not do this"),
            ("unsupported_grant_type", "changed the request"), ("invalid_scope", "name and email alone"),
            ("something_new", "Apple documents no such error"),
        ] {
            try apple.order("/auth/token error=\(error)")
            let finished = try own.ask(apple, "exchange", "web", input: "code")
            #expect(finished.status == 1)
            #expect(finished.complaints.contains("\(error): ") && finished.complaints.contains(words), "\(error)")
        }
        for (action, words) in [("status=500", "answered 500"), ("html", "answered 200"), ("reset", "no answer came")] {
            try apple.order("/auth/token \(action)")
            let finished = try own.ask(apple, "refresh", "web", input: "token")
            #expect(finished.status == 1 && finished.complaints.contains(words), "\(finished.complaints)")
        }
    }

    @Test func aCancelledSignInIsSaid() throws {
        let finished = try own.ask(apple, "exchange", "web", input: "state=x&error=user_cancelled_authorize")
        #expect(finished.status == 1)
        #expect(finished.complaints.contains("the user has cancelled the sign-in"))
        #expect(try apple.log() == [])
    }

    @Test(arguments: ["", "   \n", "state=only", "code=%zz", "code=a&code=b", "two words"])
    func whatIsNoAnswerIsNotSent(text: String) throws {
        let finished = try own.ask(apple, "exchange", "web", input: text)
        #expect(finished.status == 1)
        #expect(finished.complaints.contains("standard input: "))
        #expect(try apple.log() == [])
    }

    @Test func aRequestOfAnotherClientIsNotUsed() throws {
        let request = try request()
        let text = try own.directory.read("sign-in.url")
        try own.directory.write(
            text.replacingOccurrences(of: "com.example.web", with: "com.example.shop"), to: "other.url")
        let finished = try own.ask(
            apple, "exchange", "web", "--request", own.directory("other.url"), input: try comesBack(request))
        #expect(finished.status == 1 && finished.complaints.contains("was made for com.example.shop"))
        let noRequest = try own.ask(apple, "exchange", "web", "--request", own.secretFile, input: "code")
        #expect(noRequest.complaints.contains("authorize-url"))
        #expect(try own.ask(apple, "exchange", "web", "--request", "/nowhere", input: "code").status == 66)
    }

    /// A code is spent by its exchange: what could not be kept is noticed before.
    @Test func aFileThatExistsIsNotWrittenTo() throws {
        let request = try request()
        let form = try comesBack(request)
        let taken = try own.directory.write("mine", to: "taken")
        let finished = try own.ask(apple, "exchange", "web", "--request", request, "--save", taken, input: form)
        #expect(finished.status == 1 && finished.complaints.contains("name a new file"))
        #expect(try own.directory.read("taken") == "mine")
        #expect(try own.ask(apple, "exchange", "web", "--request", request, input: form).status == 0)
    }

    @Test func anyTokenIsTakenForRevocation() throws {
        let finished = try own.ask(apple, "revoke", "web", input: "nobodys")
        #expect(finished.status == 0 && finished.output.contains("as it does for any token"))
        #expect(try apple.log().last == "/auth/revoke revoked: unknown token")
        try apple.order("/auth/revoke error=invalid_client")
        let refused = try own.ask(apple, "revoke", "web", "--json", input: "nobodys")
        #expect(refused.status == 1 && refused.complaints.contains("Apple refuses the client secret"))
    }

    /// Neither in what is shown of a process nor in what it says.
    @Test func neitherCodesNorTokensAreArguments() throws {
        for command in ["exchange", "refresh", "id-token", "revoke"] {
            let help = try own.clientsecretd(command, "--help").output
            for option in ["--code", "--token ", "--refresh-token", "--client-secret "] {
                #expect(!help.contains(option), "\(command) \(option)")
            }
        }
    }

    /// At a terminal the code is asked for; a line may be longer than a terminal's own buffer, and is not shown.
    @Test func whatIsTypedAtATerminalIsNotShown() throws {
        let typed = "code=" + String(repeating: "x", count: 6_000)
        let program = """
            import os, pty, sys
            child, terminal = pty.fork()
            if child == 0:
                os.execv(sys.argv[1], sys.argv[1:])
            shown = b""
            def read():
                try:
                    return os.read(terminal, 65536)
                except OSError:
                    return b""
            while b": " not in shown:
                shown += read()
            os.write(terminal, sys.stdin.buffer.read() + b"\\n")
            while data := read():
                shown += data
            print(shown.decode())
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """
        let finished = try run(
            [
                python, "-c", program, own.binary, "exchange", "web", "--endpoint", apple.address, "--ca-file",
                apple.authority, "--config", own.configuration,
            ], input: Data(typed.utf8))
        #expect(finished.status == 1)
        #expect(finished.output.contains("What came back: the address, the form or the code: "))
        #expect(finished.output.contains("invalid_grant"), "\(finished.output)\(finished.complaints)")
        #expect(!finished.output.contains("xxx"))
    }

    /// The demonstration walks it all, and the guide shows what it prints.
    @Test func theGuideShowsWhatTheDemonstrationPrints() throws {
        let directory = try TemporaryDirectory()
        let finished = try run([repository + "/scripts/demo-signin", own.binary, python, directory.path])
        #expect(finished.status == 0, "\(finished.output)\(finished.complaints)")
        let printed = lasting(finished.output)
        let guide = try String(contentsOfFile: repository + "/docs/signing-in.md", encoding: .utf8)
        let blocks = guide.matches(of: #/```console\n((?:[^`]|`(?!``))*)```/#)
        #expect(blocks.count >= 10)
        for block in blocks {
            let shown = lasting(String(block.output.1))
            #expect(printed.contains(shown), "\(shown)")
        }
    }

    /// What does not differ from run to run.
    private func lasting(_ text: String) -> String {
        text.replacing(#/sha256:[0-9a-f]{16}/#, with: "sha256:")
            .replacing(#/[^ ]*\/web\.jwt/#, with: "web.jwt")
            .replacing(#/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z/#, with: "TIME")
            .replacing(#/1[0-9]{9}/#, with: "SECONDS")
            .replacing(#/60[0-9] seconds ahead/#, with: "600 seconds ahead")
            .replacing(#/nonce {13}.*/#, with: "nonce")
    }
}
