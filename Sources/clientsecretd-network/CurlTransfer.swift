import AppleClientSecret
import CLibcurl
import Failures
import Glibc

/// A libcurl handle with its received bytes.
@safe final class CurlTransfer {
    let handle: UnsafeMutableRawPointer
    private let message: UnsafeMutablePointer<CChar>
    private var body: [UInt8] = []
    private var headerLength = 0
    /// The header lines of the last answer.
    private var answerHeaders: [String] = []
    private var isTooLong = false
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// The server of the requests: its host and port.
    private var server = ""

    /// In bytes.
    private static let longestHeaders = 65_536

    /// Nil when libcurl cannot be used.
    init?() {
        guard shim_global_init() == CURLE_OK, let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = unsafe handle
        unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe shim_setopt_pointer(handle, CURLOPT_ERRORBUFFER, message)
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
        unsafe message.deallocate()
    }

    /// Sets the options of every request.
    ///
    /// The rules are:
    /// - TLS 1.2 or later; the certificate is judged by the machine's authorities, or only by those of one file.
    /// - A proxy comes from the environment (`https_proxy`, `no_proxy`), as curl(1) reads it.
    /// - No redirect is followed, and no other scheme than the named ones is spoken.
    /// - Connecting, and everything together, have a deadline; the answer's headers and body have a limit.
    ///
    /// - Parameters:
    ///   - schemes: Those that may be spoken, of libcurl's `CURLPROTO_` flags.
    ///   - caFile: A PEM file; nil for the machine's authorities.
    ///   - connectTimeout: In milliseconds.
    ///   - timeout: In milliseconds, connecting included; nil for an answer without an end.
    func prepare(
        url: String, schemes: Int, caFile: String?, connectTimeout: Int, timeout: Int?
    ) throws(TransportFailure) {
        try set(CURLOPT_URL, url)
        server =
            WebAddress(url, allowingQuery: true)
            .map { "\($0.host):\($0.port ?? ($0.scheme == .https ? 443 : 80))" } ?? url
        try check(unsafe shim_set_protocols(handle, schemes))
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        if let caFile {
            try set(CURLOPT_CAINFO, caFile)
            try set(CURLOPT_CAPATH, nil)
        }
        try set(CURLOPT_CONNECTTIMEOUT_MS, min(connectTimeout, timeout ?? connectTimeout))
        try set(CURLOPT_TIMEOUT_MS, timeout ?? 0)
        // Time-outs of the resolver would otherwise come as signals.
        try set(CURLOPT_NOSIGNAL, 1)
        // A resolver that does not respond would be waited for beyond every deadline. libcurl knows this option since 7.87.
        _ = unsafe shim_setopt_long(handle, CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_USERAGENT, "clientsecretd")
    }

    func set(_ option: CURLoption, _ value: Int) throws(TransportFailure) {
        try check(unsafe shim_setopt_long(handle, option, value))
    }

    func set(_ option: CURLoption, _ value: String?) throws(TransportFailure) {
        // A text with a NUL would be cut there.
        guard value?.utf8.contains(0) != true else {
            throw TransportFailure(.failed, "a NUL in a value", mayBeSent: false)
        }
        try check(unsafe shim_setopt_text(handle, option, value))
    }

    /// Sends these bytes as the request's body.
    func set(body: [UInt8]) throws(TransportFailure) {
        // The size first, because CURLOPT_COPYPOSTFIELDS copies that many bytes.
        try set(CURLOPT_POSTFIELDSIZE, body.count)
        try set(CURLOPT_COPYPOSTFIELDS, String(decoding: body, as: UTF8.self))
    }

    func perform() throws(TransportFailure) -> HTTPAnswer {
        receive()
        try check(unsafe curl_easy_perform(handle))
        return HTTPAnswer(status: number(CURLINFO_RESPONSE_CODE), body: body, date: date())
    }

    /// Collects the received bytes here.
    func receive() {
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe shim_setopt_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            unsafe CurlTransfer.at(context)?.receive(bytes, size * count) ?? 0
        }
        unsafe shim_setopt_pointer(handle, CURLOPT_WRITEDATA, own)
        unsafe shim_setopt_receiver(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            unsafe CurlTransfer.at(context)?.receiveHeader(bytes, size * count) ?? 0
        }
        unsafe shim_setopt_pointer(handle, CURLOPT_HEADERDATA, own)
    }

    /// The new bytes of the answer's body since the last call.
    func takeReceived() -> [UInt8] {
        defer { body = [] }
        return body
    }

    /// Forgets options and answer, and keeps the connection for the next request.
    func reset() {
        unsafe curl_easy_reset(handle)
        unsafe curl_slist_free_all(headers)
        unsafe headers = nil
        unsafe message.update(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe shim_setopt_pointer(handle, CURLOPT_ERRORBUFFER, message)
        body = []
        headerLength = 0
        answerHeaders = []
        isTooLong = false
    }

    /// Why a server that accepted the connection did not answer: connects again and sends nothing. With TLS 1.3 the server checks
    /// our certificate after the handshake. Its alert is lost if a request is already on its way or the connection ends at once.
    /// With TLS 1.2 the handshake itself fails.
    func refusal() -> TransportFailure? {
        do throws(TransportFailure) {
            try set(CURLOPT_CONNECT_ONLY, 1)
            try set(CURLOPT_FRESH_CONNECT, 1)
            try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2) | Int(CURL_SSLVERSION_MAX_TLSv1_2))
            try check(unsafe curl_easy_perform(handle))
            return nil
        } catch {
            return error
        }
    }

    /// Header lines `Name: value`, instead of those that libcurl would send itself.
    func set(headers lines: [String]) throws(TransportFailure) {
        for line in lines { unsafe headers = unsafe curl_slist_append(headers, line) }
        try check(unsafe shim_setopt_pointer(handle, CURLOPT_HTTPHEADER, headers))
    }

    /// The value of this header in the last answer. libcurl's own function for it needs 7.83.
    func header(_ name: String) -> String? {
        let prefix = name.lowercased() + ":"
        guard let line = answerHeaders.first(where: { $0.lowercased().hasPrefix(prefix) }) else { return nil }
        return String(line.dropFirst(prefix.count).trimming(while: \.isWhitespace))
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        unsafe context.map { unsafe Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns how many bytes were taken; libcurl ends the transfer if that is fewer than were received.
    private func receive(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes = unsafe bytes, body.count + count <= HTTPAnswer.longestBody else {
            isTooLong = true
            return 0
        }
        unsafe UnsafeRawBufferPointer(start: bytes, count: count).withMemoryRebound(to: UInt8.self) {
            unsafe body.append(contentsOf: $0)
        }
        return count
    }

    /// One whole line at a time. The answers of a proxy and interim ones come first, each with a status line.
    private func receiveHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        headerLength += count
        guard let bytes = unsafe bytes, headerLength <= Self.longestHeaders else {
            isTooLong = true
            return 0
        }
        let line = unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
        if line.hasPrefix("HTTP/") { answerHeaders = [] }
        answerHeaders.append(line)
        return count
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        return unsafe shim_getinfo_long(handle, info, &value) == CURLE_OK ? value : 0
    }

    /// The server's clock, from its `Date` header; nil without one. libcurl reads years that no date has.
    private func date() -> WallTime? {
        guard let text = header("Date") else { return nil }
        let seconds = unsafe curl_getdate(text, nil)
        let lastOfYear9999 = 253_402_300_799
        return (0...lastOfYear9999).contains(seconds) ? WallTime(secondsSinceEpoch: Int64(seconds)) : nil
    }

    private func check(_ code: CURLcode) throws(TransportFailure) {
        guard code != CURLE_OK else { return }
        // So libcurl calls a line of the answer's header that is longer than its limit, before 8.6 and since.
        if code == CURLE_OUT_OF_MEMORY || code.rawValue == 100 { isTooLong = true }
        let detail = unsafe String(cString: message.pointee == 0 ? curl_easy_strerror(code) : UnsafePointer(message))
        let kind = kind(of: code)
        let isUnanswered = code == CURLE_OPERATION_TIMEDOUT && kind == .notConnected
        let words =
            isUnanswered
            ? "connection timed out: nothing answered at \(server)" : ProxyCredentials.hidden.words(detail)
        throw TransportFailure(kind, isTooLong ? "" : words, mayBeSent: isConnected)
    }

    /// Why a deadline passed: packets to a server that are dropped on the way are no slow answer.
    private var kindOfTimeout: TransportFailure.Kind {
        if isConnected || passed(CURLINFO_CONNECT_TIME_T) { return .timedOut }
        return passed(CURLINFO_NAMELOOKUP_TIME_T) ? .notConnected : .nameNotResolved
    }

    /// Whether a connection was established, with TLS if it is used: before that no part of a request is sent.
    ///
    /// libcurl reports a time for the handshake, except for a request over a kept connection. For that one it reports the time
    /// before the transfer, which is 0 if no connection was established.
    private var isConnected: Bool {
        [CURLINFO_APPCONNECT_TIME_T, CURLINFO_PRETRANSFER_TIME_T].contains(where: passed)
    }

    /// Whether the last request came beyond the step that a time is measured to.
    private func passed(_ info: CURLINFO) -> Bool {
        var microseconds: curl_off_t = 0
        return unsafe shim_getinfo_offset(handle, info, &microseconds) != CURLE_OK || microseconds > 0
    }

    private func kind(of code: CURLcode) -> TransportFailure.Kind {
        if isTooLong { return .answerTooLong }
        let connected = number(CURLINFO_HTTP_CONNECTCODE)
        if connected != 0, connected != 200 { return .proxyFailed }
        return switch code {
        case CURLE_COULDNT_RESOLVE_HOST: .nameNotResolved
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxyFailed
        case CURLE_COULDNT_CONNECT: .notConnected
        case CURLE_OPERATION_TIMEDOUT: kindOfTimeout
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: .certificateRefused
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED: .tlsFailed
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM: .caFileUnusable
        // Also a length of a chunk that is no number.
        case CURLE_RECV_ERROR where number(CURLINFO_RESPONSE_CODE) != 0: .answerBroken
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: .connectionLost
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            .answerBroken
        // The URL's protocol is always one that is supported: this one is the answer's.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .notHTTP
        case CURLE_FILESIZE_EXCEEDED: .answerTooLong
        default: .failed
        }
    }
}
