import AppleClientSecret
import Failures
import Formats
import Model

extension PushExchange {
    /// A request as it goes out.
    func expanded(_ request: PushRequest) throws(RoleFailure) -> PushHTTPRequest {
        let query = request.query.compactMap { field -> String? in
            let value = PushTemplate.expand(field.value, values, PushTemplate.percentEncoded)
            return value.isEmpty ? nil : field.name + "=" + value
        }.joined(separator: "&")
        let path = PushTemplate.expand(request.path, values, PushTemplate.percentEncoded)
        guard
            let address = WebAddress(
                target.endpoint + path + (query.isEmpty ? "" : "?" + query), allowingQuery: true)
        else { throw RoleFailure(.pushUnconfigured, "the target's settings do not give a usable address") }
        // The headers of a target that describes its requests itself get the token, and nothing else.
        let known = target.kind.isCustom ? ["token": token] : values
        var headers = request.headers.map {
            (name: $0.name, value: PushTemplate.expand($0.value, known) { value, _ in value })
        }.filter { !$0.value.isEmpty }
        var signature: AWSSignature?
        switch target.kind.authorization {
        case .bearer: headers.append(("Authorization", "Bearer " + token))
        case .header(let name): headers.append((name, token))
        case .login: if let session { headers.append(("Authorization", session)) }
        case .ownHeaders: break
        case .awsSignature(let service):
            guard let credentials = AWSCredentials(token) else {
                throw RoleFailure(.pushTokenUnusable, target.objection(to: token))
            }
            if let session = credentials.sessionToken { headers.append(("X-Amz-Security-Token", session)) }
            signature = AWSSignature(
                region: values["region", default: ""], service: service, keyID: credentials.keyID,
                secretKey: credentials.secretKey)
        }
        guard headers.allSatisfy({ PushTarget.isOfHeader($0.value) }) else {
            throw RoleFailure(.pushTokenUnusable, PushTarget.headerWords)
        }
        let body = try request.body.map { body throws(RoleFailure) in try self.body(body) }
        if body != nil, !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            headers.append(("Content-Type", "application/json"))
        }
        return PushHTTPRequest(
            method: request.method, address: address, headers: headers, body: body, signature: signature)
    }

    private func body(_ body: PushRequest.Body) throws(RoleFailure) -> [UInt8] {
        switch body {
        case .json(let template): return Array(PushTemplate.expand(template, values, PushTemplate.json).utf8)
        case .template(let template):
            let bytes = Array(secretText.utf8)
            guard let claims = (try? CompactJWS(bytes))?.claims,
                let rendered = try? FormatRegistry.template.init(parameter: template).render(
                    [.whole: RenderedSecret(token: bytes, claims: claims)], into: [])
            else { throw RoleFailure(.pushUnconfigured, "the secret does not fit into the target's \"body\"") }
            return rendered
        }
    }
}
