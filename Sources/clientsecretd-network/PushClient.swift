import AppleClientSecret
import CLibcurl
import Failures
import Linux
import Push

/// One request to an API over HTTPS, or over HTTP to this machine itself, and its answer.
///
/// The rules are those of ``CurlTransfer``. In addition, requests to this machine itself use no proxy.
struct PushClient {
    /// A PEM file; nil for the machine's authorities.
    let caFile: String?
    /// In milliseconds.
    let timeout: Int

    func send(_ request: PushHTTPRequest) -> Result<HTTPAnswer, TransportFailure> {
        guard let transfer = CurlTransfer() else {
            return .failure(TransportFailure(.failed, "libcurl cannot be used"))
        }
        do throws(TransportFailure) {
            let schemes = request.address.isLoopback ? CURLPROTO_HTTP | CURLPROTO_HTTPS : CURLPROTO_HTTPS
            try transfer.prepare(
                url: request.address.description, schemes: Int(schemes), caFile: caFile,
                connectTimeout: NetworkTimeouts.connection, timeout: timeout)
            if request.address.isLoopback { try transfer.set(CURLOPT_NOPROXY, "*") }
            if let body = request.body { try transfer.set(body: body) }
            try transfer.set(CURLOPT_CUSTOMREQUEST, request.method)
            var headers = request.headers.map { "\($0.name): \($0.value)" }
            if let signature = request.signature {
                // libcurl's signature names no port (curl#9550), so the request must not either.
                headers.append("Host: \(request.address.host)")
                try transfer.set(CURLOPT_AWS_SIGV4, "aws:amz:\(signature.region):\(signature.service)")
                try transfer.set(CURLOPT_USERNAME, signature.keyID)
                try transfer.set(CURLOPT_PASSWORD, signature.secretKey)
            }
            try transfer.set(headers: headers)
            var answer = try transfer.perform()
            answer.retryAfter = RetryAfter.seconds(in: transfer, now: answer.date)
            answer.receivedAt = WallTime(secondsSinceEpoch: Clocks.wallSeconds())
            return .success(answer)
        } catch {
            return .failure(error)
        }
    }
}
