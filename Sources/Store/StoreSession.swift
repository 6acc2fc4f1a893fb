import AppleClientSecret
package import Failures

/// Reads and puts values in one etcd. It has no clock, network or random source of its own.
///
/// The rules are:
/// - A request goes to one member after the other until one answers, within its time (``EtcdTimeouts``). Without an answer
///   there is a pause (see ``MemberChoice``), during which requests fail at once with the last failure.
/// - Keys are read in transactions of as many operations as etcd takes. One value that is too long, or one key that is
///   forbidden, must not hide the others. Then each half is read by itself, down to the one.
/// - A put that was not answered may have been carried out. It is put again by the same comparison; if that finds the value
///   there, the first put had succeeded.
package struct StoreSession {
    private let now: () -> Int64
    private let random: (Int64) -> Int64
    private var requests: MemberRequests
    /// Why the last request failed; a request in a pause fails in the same way.
    private var last: RoleFailure?
    /// The keys and revision to watch after the last read.
    package private(set) var watchable: Watchable?
    /// The page size of the list that is being read.
    private var pageLimit = StoreResult.mostListed

    /// A request to one member.
    package struct Call: Sendable {
        /// `https://HOST:PORT`.
        package let endpoint: String
        package let request: EtcdRequest
        /// The `Authorization` header; nil without a login.
        package let token: String?
        /// In milliseconds, connecting included.
        package let timeout: Int
    }

    /// The watch that would report the next change.
    package struct Watchable: Hashable, Sendable {
        package let endpoint: String
        package let token: String?
        package let keys: [[UInt8]]
        package let request: EtcdRequest
        /// The store's revision that was read.
        package let revision: Int64
    }

    /// - Parameters:
    ///   - password: of the configured user, read for each login.
    ///   - now: milliseconds since boot.
    ///   - random: a random number below its argument.
    ///   - send: sends one request, and connects within ``EtcdTimeouts/connection``.
    package init(
        _ configuration: StoreConfiguration, password: @escaping () -> Result<String, RoleFailure>,
        now: @escaping () -> Int64, random: @escaping (Int64) -> Int64,
        send: @escaping (Call) -> Result<HTTPAnswer, TransportFailure>
    ) {
        self.now = now
        self.random = random
        requests = MemberRequests(
            configuration, password: password,
            members: MemberChoice(count: configuration.endpoints.count, at: now(), random: random), send: send)
    }

    /// Carries out the request.
    package mutating func answer(_ request: StoreRequest) -> StoreResult {
        if case .read = request { watchable = nil }
        let pause = requests.members.pause(at: now())
        if pause > 0, let last { return .failed(last.waiting(seconds: Int(Seconds(roundingUp: pause).count))) }
        requests.members.begin(at: now())
        while true {
            do throws(Problem) {
                let result = try attempt(request)
                requests.members.succeeded()
                last = nil
                return result
            } catch {
                last = error.failure
                switch error {
                case .member, .tooLong: if requests.members.memberFailed(at: now(), random: random) { continue }
                case .login: requests.members.loginFailed(at: now(), random: random)
                case .refusal, .write, .forbidden: requests.members.refused(at: now(), random: random)
                }
            }
            let pause = requests.members.pause(at: now())
            let failure = last ?? RoleFailure(.storeUnreachable)
            return .failed(failure.waiting(seconds: Int(Seconds(roundingUp: pause).count)))
        }
    }

    // MARK: Requests

    private typealias Problem = MemberRequests.Problem

    private var prefix: String { requests.configuration.prefix }

    private mutating func attempt(_ request: StoreRequest) throws(Problem) -> StoreResult {
        switch request {
        case .read(let keys): return .read(try readAll(keys))
        case .put(let puts):
            return try write(puts.first?.key.words ?? "") { session throws(Problem) in try session.put(puts) }
        case .list(let kind, let from):
            return try write("the \(kind)s") { session throws(Problem) in try session.list(kind, from: from) }
        case .remove(let key, let revision):
            return try write(key.words) { session throws(Problem) in
                _ = try session.requests.ask(.delete(key.bytes(below: session.prefix), ifAt: revision))
                return .removed
            }
        }
    }

    /// Carries out a request that reads no secrets. If etcd forbids it, only that request fails: secrets are still read.
    private mutating func write(
        _ what: String, _ body: (inout StoreSession) throws(Problem) -> StoreResult
    ) throws(Problem) -> StoreResult {
        do throws(Problem) {
            return try body(&self)
        } catch {
            switch error {
            case .forbidden: return .failed(RoleFailure(.storeForbidden, what))
            case .write(let failure): return .failed(failure)
            default: throw error
            }
        }
    }

    private mutating func readAll(_ keys: [StoreKey]) throws(Problem) -> [StoreEntry] {
        let keys = keys.map { $0.bytes(below: prefix) }
        var entries: [StoreEntry] = []
        var revision: Int64 = .max
        while entries.count < keys.count {
            let end = min(entries.count + EtcdRequest.mostOperations, keys.count)
            let (found, at) = try read(Array(keys[entries.count..<end]))
            entries += found
            revision = min(revision, at)
        }
        if !entries.contains(.forbidden) {
            watchable = Watchable(
                endpoint: requests.endpoint, token: requests.members.token, keys: keys,
                request: .watch(keys, from: revision + 1), revision: revision)
        }
        return entries
    }

    /// The content of the keys, and the store's revision (`Int64.max` where none of them may be read).
    private mutating func read(_ keys: [[UInt8]]) throws(Problem) -> (entries: [StoreEntry], revision: Int64) {
        do throws(Problem) {
            return try readAtOnce(keys)
        } catch {
            switch error {
            case .tooLong where keys.count == 1: return try readAtOnce(keys, withoutValues: true)
            case .forbidden where keys.count == 1: return ([.forbidden], .max)
            case .tooLong, .forbidden:
                // A secret and its rollout, which follows it, are read at one revision.
                let half = max(keys.count / 4 * 2, 1)
                let (first, one) = try read(Array(keys[..<half]))
                let (second, other) = try read(Array(keys[half...]))
                return (first + second, min(one, other))
            default: throw error
            }
        }
    }

    /// The same by one request.
    private mutating func readAtOnce(
        _ keys: [[UInt8]], withoutValues: Bool = false
    ) throws(Problem) -> (entries: [StoreEntry], revision: Int64) {
        let answer = try requests.ask(.read(keys, withoutValues: withoutValues))
        guard let found = EtcdAnswer.entries(answer, of: keys, withoutValues: withoutValues) else {
            throw .unexpected(answer)
        }
        return found
    }

    private mutating func put(_ puts: [StoreRequest.Put]) throws(Problem) -> StoreResult {
        let keys = puts.map { $0.key.bytes(below: prefix) }
        let found: [StoreEntry]
        do throws(Problem) {
            let answer = try requests.ask(.put(puts, below: prefix))
            switch EtcdAnswer.put(answer, at: keys) {
            case nil: throw .unexpected(answer)
            case .done(let revision): return .put(revision: revision)
            case .found(let entries):
                // An earlier attempt put all of it in one transaction, and its answer was lost.
                if case .value(_, let revision)? = entries.first,
                    entries == puts.map({ StoreEntry.value($0.value, revision: revision) })
                {
                    return .put(revision: revision)
                }
                found = entries
            }
        } catch {
            guard case .tooLong = error else { throw error }
            found = try read(keys).entries
        }
        return .conflict(found)
    }

    private mutating func list(_ kind: StoreKey.Kind, from first: [UInt8]?) throws(Problem) -> StoreResult {
        let keys = StoreKey.range(of: kind, below: prefix)
        if first == nil { pageLimit = StoreResult.mostListed }
        let first = first.flatMap { $0.starts(with: keys.first) ? $0 : nil } ?? keys.first
        while true {
            let answer: HTTPAnswer
            do throws(Problem) {
                answer = try requests.ask(.page(from: first, to: keys.end, limit: pageLimit))
            } catch {
                guard case .tooLong = error else { throw error }
                // The pages after this one are likely to be as long.
                if pageLimit > 1 {
                    pageLimit = max(pageLimit / 8, 1)
                    continue
                }
                // One value is too long by itself: only its key is read. The values after it may be short again.
                pageLimit = StoreResult.mostListed
                let answer = try requests.ask(.page(from: first, to: keys.end, limit: 1, withoutValues: true))
                return try page(answer, withoutValues: true)
            }
            return try page(answer)
        }
    }

    private func page(_ answer: HTTPAnswer, withoutValues: Bool = false) throws(Problem) -> StoreResult {
        guard let (entries, hasMore) = EtcdAnswer.page(answer, withoutValues: withoutValues) else {
            throw .unexpected(answer)
        }
        let listed = entries.compactMap { key, entry in
            StoreKey(key, below: prefix).map { StoreResult.Listed(key: $0, entry: entry) }
        }
        return .list(listed, next: hasMore ? entries.last.map { $0.key + [0] } : nil)
    }
}
