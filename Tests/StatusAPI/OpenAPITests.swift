import AppleClientSecret
import Failures
import Foundation
import Model
import StatusAPI
import Synchronization
import TestSupport
import Testing

/// The published description of the API against what is served.
@Suite(.waits, .needs(.root, .venv)) struct OpenAPITests {
    private struct Exchange: Encodable {
        let method: String
        let path: String
        let answer: String
    }

    /// Every answer fits the description, and every answer described was given.
    @Test func describesWhatIsServed() throws {
        var exchanges: [Exchange] = []
        for (harness, requests) in [
            (try busy(), Self.whileBusy), (try running(.degraded), Self.whileRunning),
            (try running(.ok), [("GET", "/healthz", nil, nil)]),
            (try running(.critical), [("GET", "/healthz", nil, nil)]),
            (try running(.ok, ready: false), [("GET", "/readyz", nil, nil)]),
        ] as [(Harness, [Request])] {
            for (method, path, body, type) in requests {
                let target = path.replacing("{name}", with: "web").replacing("{unknown}", with: "wbe")
                    .replacing("{order}", with: "hold").replacing("{overtaken}", with: "finish")
                    .replacing("{unserved}", with: "resume")
                let text = Texts.request(method, target, body: body, type: type)
                exchanges.append(
                    Exchange(
                        method: method,
                        path: path.replacing("{unknown}", with: "{name}").replacing("{overtaken}", with: "{order}")
                            .replacing("{unserved}", with: "{order}"),
                        answer: try harness.exchange(text)))
            }
        }
        do {
            let control = ControlPermission(daemonUser: 4321)
            let harness = try Harness(control: control, show: try Samples.snapshot()) { request in
                switch request {
                case .reload: .reloaded(unserved: [])
                case .rollout: .noRollout(nil)
                case .renew, .fleet: .renewed([])
                }
            }
            for path in Self.posts {
                let text = Texts.request(
                    "POST", path.replacing("{name}", with: "web").replacing("{order}", with: "hold"))
                let answers =
                    try harness.received([text], user: 1234)
                    + harness.received([text, text], user: 4321)
                exchanges += answers.map { Exchange(method: "POST", path: path, answer: $0) }
            }
        }
        let checked = try run(
            [python, "-c", Self.checker, repository + "/docs/openapi.yaml"],
            input: try JSONEncoder().encode(exchanges))
        expectSame(checked.output + checked.complaints, "\(exchanges.count) answers are as described\n")
    }

    private func running(_ health: HealthState, ready: Bool = true) throws -> Harness {
        let web = try Samples.name("web")
        let issued = try Samples.issued()
        let reloads = Mutex(0)
        let fleets = Fleets(view: try Samples.fleet())
        return try Harness(show: try Samples.snapshot(health, ready: ready)) { request in
            if case .fleet(let all) = request { return fleets.next(all) }
            if case .rollout(_, .finish) = request { return .rolloutOvertaken }
            if case .rollout(_, .resume) = request { return .noRollout(Failure(.storeUnreachable, at: .store)) }
            if case .rollout = request {
                return .rollout(RolloutView(share: 0.05, state: .held, since: WallTime(secondsSinceEpoch: 0)))
            }
            guard case .renew(let renewal) = request else {
                return reloads.withLock { count in
                    count += 1
                    let lines = ["c.yaml:1:1: error: a"]
                    let answers = [
                        .reloaded(unserved: ["a"]), .refused(diagnostics: lines), Answer.unread(diagnostics: lines),
                    ]
                    return answers[min(count, answers.count) - 1]
                }
            }
            return .renewed([
                RenewalOutcome(client: web, result: renewal.deliverOnly ? .failed("no space") : .renewed(issued))
            ])
        }
    }

    /// Answers in turn what a signer and another machine do, and a signer whose store is away.
    private final class Fleets: Sendable {
        private let asked = Mutex(0)
        private let view: FleetView

        init(view: FleetView) { self.view = view }

        func next(_ all: Bool) -> Answer {
            let count = asked.withLock { count in
                count += 1
                return count
            }
            switch (count - 1) / 2 {
            case 0: return .fleet(view)
            case 1: return .noFleet(nil)
            default: return .noFleet(Failure(.storeUnreachable, at: .store))
            }
        }
    }

    /// One that can take nothing more to do.
    private func busy() throws -> Harness {
        return try Harness(limits: { $0.pendingRequests = 0 }, show: try Samples.snapshot())
    }

    private typealias Request = (method: String, path: String, body: String?, type: String?)

    private static let paths = [
        "/v1/status", "/v1/clients/{name}", "/v1/fleet", "/v1/fleet/all", "/v1/renew", "/v1/clients/{name}/renew",
        "/v1/clients/{name}/rollout/{order}", "/v1/reload", "/healthz",
        "/readyz",
        "/metrics",
    ]
    private static let posts = [
        "/v1/renew", "/v1/clients/{name}/renew", "/v1/clients/{name}/rollout/{order}", "/v1/reload",
    ]

    private static let whileBusy: [Request] = paths.map { path in
        (posts.contains(path) ? "POST" : "GET", path, nil, nil)
    }

    private static let whileRunning: [Request] = {
        var requests = whileBusy
        for path in paths { requests.append((posts.contains(path) ? "PUT" : "DELETE", path, nil, nil)) }
        for path in posts {
            requests.append(("POST", path, "{", "application/json"))
            requests.append(("POST", path, "a=b", "text/plain"))
        }
        for path in posts.dropLast() {
            requests.append(("POST", path, #"{"deliver_only":true}"#, "application/json"))
            requests.append(("POST", path, String(repeating: " ", count: 65_537), "application/json"))
        }
        for _ in 0..<2 {
            for path in ["/v1/fleet", "/v1/fleet/all"] { requests.append(("GET", path, nil, nil)) }
        }
        requests.append(("GET", "/v1/clients/{unknown}", nil, nil))
        requests.append(("POST", "/v1/clients/{unknown}/renew", nil, nil))
        requests.append(("POST", "/v1/clients/{unknown}/rollout/{order}", nil, nil))
        requests.append(("POST", "/v1/clients/{name}/rollout/{overtaken}", nil, nil))
        requests.append(("POST", "/v1/clients/{name}/rollout/{unserved}", nil, nil))
        requests.append(("POST", "/v1/renew", #"{"clients":["wbe"]}"#, "application/json"))
        for _ in 0..<2 { requests.append(("POST", "/v1/reload", nil, nil)) }
        return requests
    }()

    /// Takes exchanges as JSON, checks each against the document, and the document for what nobody answered.
    private static let checker = #"""
        import json, sys, yaml
        from jsonschema import Draft202012Validator
        from openapi_spec_validator import validate
        document = yaml.safe_load(open(sys.argv[1]))
        validate(document)
        components = document["components"]
        def resolved(node):
            return components["responses"][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node
        seen, exchanges = set(), json.load(sys.stdin)
        for exchange in exchanges:
            method, path = exchange["method"].lower(), exchange["path"]
            head, _, body = exchange["answer"].partition("\r\n\r\n")
            lines = head.split("\r\n")
            status = lines[0].split(" ")[1]
            fields = dict(line.split(": ", 1) for line in lines[1:])
            what = f"{method} {path} {status}"
            operations = document["paths"][path]
            known = operations.get(method)
            if known is None:
                assert status == "405", what
                known = operations.get("get") or operations["post"]
            assert status in known["responses"], f"{what} is not described"
            response = resolved(known["responses"][status])
            seen.add((path, status))
            kind = fields["content-type"].split(";")[0]
            assert kind in response["content"], f"{what}: {kind}"
            schema = {**response["content"][kind]["schema"], "components": components}
            value = json.loads(body) if "json" in kind else body
            for error in Draft202012Validator(schema).iter_errors(value):
                print(f"{what}: {error.json_path}: {error.message}")
            if kind == "application/problem+json":
                assert value["status"] == int(status), what
            for name, header in response.get("headers", {}).items():
                field = fields.get(name.lower())
                assert field is not None or not header.get("required"), f"{what}: no {name}"
                if field is not None:
                    Draft202012Validator(header["schema"]).validate(field)
        for path, operations in document["paths"].items():
            for method in operations.keys() - {"parameters"}:
                for status in operations[method]["responses"]:
                    if (path, status) not in seen:
                        print(f"nobody answered {method} {path} with {status}")
        print(f"{len(exchanges)} answers are as described")
        """#
}
