import AppleAPI
import AppleClientSecret
import CLibcurl
import Failures
import Glibc

/// One request to one of Apple's servers, or to the one that was named instead, and its answer. The rules are those of
/// ``CurlTransfer/prepare(url:schemes:caFile:connectTimeout:timeout:)``.
struct AppleClient {
    let endpoint: Endpoint
    /// A PEM file; nil for the machine's authorities.
    let caFile: String?
    /// In milliseconds.
    let connectTimeout: Int
    /// In milliseconds, connecting included.
    let timeout: Int

    /// Posts a form. An answer that is no token response is reduced to its error, without the form's secrets, codes and
    /// tokens. Errors are shown and logged, and a server may repeat the request in them.
    func post(_ fields: [FormEncoding.Field], to path: Endpoint.Path) -> Result<HTTPAnswer, TransportFailure> {
        let secrets = ["client_secret", "code", "refresh_token", "token"]
        let hidden = EchoedSecrets(fields.filter { secrets.contains($0.name) }.map(\.value))
        return send(endpoint.url(path), form: FormEncoding.encode(fields), hiding: hidden)
            .map { TokenResponse($0) == nil ? $0.reduced(hidden.words) : $0 }
    }

    func get(_ path: Endpoint.Path) -> Result<HTTPAnswer, TransportFailure> {
        send(endpoint.url(path), hiding: EchoedSecrets([]))
    }

    /// Asks whether a token is accepted: the server of its kind, or the one that was named instead of Apple's server. Of an
    /// answer, only the verdict leaves this process.
    func verdict(on request: VerificationRequest) -> Verdict {
        guard request.clientID.canBeTried else { return .cannotBeTried }
        let server = endpoint == .apple ? request.rules.server : endpoint.description
        let hidden = EchoedSecrets(request.hidden)
        let result = send(
            server + request.rules.path, form: request.form, headers: request.headers, hiding: hidden)
        return Verdict(result, to: request.rules, redacted: hidden.words)
    }

    private func send(
        _ url: String, form: String? = nil, headers: [String] = [], hiding hidden: EchoedSecrets
    ) -> Result<HTTPAnswer, TransportFailure> {
        guard let transfer = CurlTransfer() else {
            return .failure(TransportFailure(.failed, "libcurl cannot be used", mayBeSent: false))
        }
        do throws(TransportFailure) {
            try transfer.prepare(
                url: url, schemes: Int(CURLPROTO_HTTPS), caFile: caFile, connectTimeout: connectTimeout,
                timeout: timeout)
            if !headers.isEmpty { try transfer.set(headers: headers) }
            if let form { try transfer.set(body: Array(form.utf8)) }
            return .success(try transfer.perform())
        } catch {
            return .failure(TransportFailure(error.kind, hidden.words(error.detail), mayBeSent: error.mayBeSent))
        }
    }
}
