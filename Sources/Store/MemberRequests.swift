import Failures

/// Sends requests to the current member of the store, and logs in there first if needed. ``EtcdError`` decides the meaning of
/// an error for the request and for the other members.
struct MemberRequests {
    let configuration: StoreConfiguration
    private let password: () -> Result<String, RoleFailure>
    private let send: (StoreSession.Call) -> Result<HTTPAnswer, TransportFailure>
    var members: MemberChoice

    /// Why there is no answer.
    enum Problem: Error {
        /// This member failed; another one may answer.
        case member(RoleFailure)
        /// The login failed. Another attempt soon would load the members further: each login costs a tenth of a second.
        case login(RoleFailure)
        /// Every member would answer the same.
        case refusal(RoleFailure)
        /// The write was refused; reads are not affected.
        case write(RoleFailure)
        /// The answer is longer than is accepted; one to fewer keys may be short enough.
        case tooLong
        /// At least one of the keys may not be read.
        case forbidden

        /// The same for the caller.
        var failure: RoleFailure {
            switch self {
            case .member(let failure), .login(let failure), .refusal(let failure), .write(let failure): failure
            // Even the answer to one key without its value is too long: this is no etcd.
            case .tooLong: RoleFailure(.storeAnswerUnexpected, "it is longer than 1 MiB")
            case .forbidden: RoleFailure(.storeForbidden)
            }
        }

        static func unexpected(_ answer: HTTPAnswer) -> Problem {
            .member(RoleFailure(.storeAnswerUnexpected, "it answered \(answer.status) with an unexpected body"))
        }
    }

    init(
        _ configuration: StoreConfiguration, password: @escaping () -> Result<String, RoleFailure>,
        members: MemberChoice, send: @escaping (StoreSession.Call) -> Result<HTTPAnswer, TransportFailure>
    ) {
        self.configuration = configuration
        self.password = password
        self.members = members
        self.send = send
    }

    /// The member that requests go to.
    var endpoint: String { configuration.endpoints[members.current] }

    /// The answer to a request. Logs in first if needed.
    mutating func ask(_ request: EtcdRequest) throws(Problem) -> HTTPAnswer {
        var hasLoggedIn = false
        while true {
            if let user = configuration.user, members.token == nil {
                try logIn(user)
                hasLoggedIn = true
            }
            switch send(call(request, timeout: EtcdTimeouts.request)) {
            case .failure(let failure) where failure.kind == .answerTooLong: throw .tooLong
            case .failure(let failure): throw Self.problem(failure)
            case .success(let answer):
                if answer.status == 200 { return answer }
                guard EtcdError(answer).isOfLogin, configuration.user != nil, !hasLoggedIn else {
                    throw problem(answer)
                }
                members.forgetLogin()
            }
        }
    }

    private mutating func logIn(_ user: String) throws(Problem) {
        let password: String
        do throws(RoleFailure) {
            password = try self.password().get()
        } catch {
            throw .refusal(error)
        }
        switch send(call(.logIn(user: user, password: password), timeout: EtcdTimeouts.login)) {
        // The login has not reached the member.
        case .failure(let failure) where !failure.mayBeSent: throw Self.problem(failure)
        case .failure(let failure):
            let failure = RoleFailure(failure)
            throw failure.code == .storeTimedOut ? .login(failure) : .member(failure)
        case .success(let answer):
            guard answer.status == 200 else {
                let problem = problem(answer)
                if case .member(let failure) = problem, failure.code == .storeUnavailable { throw .login(failure) }
                throw problem
            }
            guard let token = EtcdAnswer.token(answer) else {
                throw .member(RoleFailure(.storeAnswerUnexpected, "the answer to the login has no token"))
            }
            members.loggedIn(token)
        }
    }

    private func call(_ request: EtcdRequest, timeout: Int) -> StoreSession.Call {
        StoreSession.Call(
            endpoint: endpoint, request: request, token: members.token, timeout: timeout)
    }

    private static func problem(_ failure: TransportFailure) -> Problem {
        let failure = RoleFailure(failure)
        return failure.code == .storeFileUnusable ? .refusal(failure) : .member(failure)
    }

    /// Why etcd did not carry out a request.
    private func problem(_ answer: HTTPAnswer) -> Problem {
        EtcdError(answer).problem { [members.token, try? password().get()].compactMap { $0 } }
    }
}
