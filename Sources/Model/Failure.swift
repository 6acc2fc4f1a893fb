package import AppleClientSecret
package import Failures

/// Why something could not be done.
///
/// The one error type of everything that touches keys, files, actions and clocks: a closed code, the place, and the
/// system's error. The code determines the words, the general remedy and how soon it is tried again
/// (``Failures/FailureCode``; below this module, so that file errors have the same codes). The places are names of the
/// configuration, so they are here. Errors in the configuration's text are diagnostics, not failures.
package struct Failure: Error, Hashable, Sendable {
    package let code: Code
    package let place: Place
    /// The errno value of the call that failed, where one did.
    package let cause: Int32?
    /// The part of the message beyond the place: the component of a path, the curve of a key, an exit status. Never a secret,
    /// never a key's content.
    package private(set) var detail: String?
    /// A remedy more specific than the code's, from where the failure arose; nil: ``remedy`` follows from the code.
    private(set) var knownRemedy: Remedy?
    /// How long an API asks to wait; nil if none does. Two failures that differ only in this are equal:
    /// it becomes less with every answer.
    package let retryAfter: Seconds?
    /// The content that the API has just shown for the place; nil if that is not known. Failures that differ only in this are
    /// equal.
    package let placeContent: PushPlaceContent?
    /// The secrets that programs find in an output that the daemon does not accept, read only for the judgement; nil if that is
    /// not known. Failures that differ only in this are equal.
    package private(set) var seen: [FileSlot: SlotObservation]?

    /// - Parameter detail: on one line; unprintable characters are escaped here.
    package init(
        _ code: Code, at place: Place, cause: Int32? = nil, detail: String? = nil, remedy: Remedy? = nil,
        retryAfter: Seconds? = nil, placeContent: PushPlaceContent? = nil
    ) {
        self.placeContent = placeContent
        assert(code.isReported, "\(code.rawValue) does not say what the file at \(place) was to be")
        self.code = code
        self.place = place
        self.cause = cause
        self.detail = detail.map(Printable.line)
        knownRemedy = remedy
        self.retryAfter = retryAfter
    }

    /// A failure that a role has reported, without any text that an API or a store may have smuggled into it.
    package init(_ failure: RoleFailure, at place: Place, remedy: Remedy? = nil) {
        self.init(
            failure.code, at: place, detail: failure.detail.map(Redaction.foreign), remedy: remedy,
            retryAfter: failure.retryAfter.map { Seconds(Int64($0)) }, placeContent: failure.placeContent)
    }

    package static func == (left: Failure, right: Failure) -> Bool {
        left.code == right.code && left.place == right.place && left.cause == right.cause
            && left.detail == right.detail && left.knownRemedy == right.knownRemedy
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(place)
        hasher.combine(cause)
        hasher.combine(detail)
        hasher.combine(knownRemedy)
    }

    /// The same with the secrets that programs find in the output.
    package func seeing(_ slots: [FileSlot: SlotObservation]?) -> Failure {
        var failure = self
        failure.seen = slots
        return failure
    }

    /// The same with another remedy, and another detail unless that is nil.
    package func with(_ remedy: Remedy?, detail: String? = nil) -> Failure {
        var failure = self
        failure.knownRemedy = remedy
        if let detail { failure.detail = Printable.line(detail) }
        return failure
    }

    /// A thread or process that could not be started: the limit that was reached, if it was one.
    ///
    /// - Parameters:
    ///   - code: the code if a limit was reached and if not; nil: the limit's own, or `.systemError`.
    ///   - detail: the detail if no limit was reached.
    package static func notStarted(
        _ code: Code? = nil, at place: Place, cause: Int32, detail: String? = nil, remedy: Remedy? = nil
    ) -> Failure {
        guard let limit = ProcessLimit(reached: cause, isStart: true) else {
            return Failure(code ?? .systemError, at: place, cause: cause, detail: detail, remedy: remedy)
        }
        guard let code else { return Failure(limit.code, at: place, cause: cause) }
        return Failure(code, at: place, cause: cause, detail: limit.code.words, remedy: limit.remedy(for: nil))
    }

    /// Whether the daemon gave it up itself, because it stops.
    package var isCancelled: Bool { cause == ErrorNumber.cancelled || code == .actionInterrupted }

    /// The subject of the failure.
    package enum Place: Hashable, Sendable {
        case key(KeyName)
        case client(ClientName)
        /// An output file, a key file, a passphrase file or the configuration, depending on `code`.
        case path(AbsolutePath)
        /// A place behind an API.
        case target(TargetName)
        case action(ActionID)
        /// A systemd credential of this name.
        case credential(String)
        /// A name on the command line or another thing without a path of its own, such as standard input.
        case named(String)
        case clock
    }

    package typealias Code = FailureCode
}

extension Failure.Place {
    /// The etcd through which machines share secrets.
    package static let store = Failure.Place.named("the store")
}

extension Failure {
    /// The message for operators: place, problem, detail and the system's error. One line without a full stop.
    package var message: String {
        var text = "\(place): \(code.words)"
        if let detail, !detail.isEmpty { text += ": " + detail }
        if let cause { text += " (\(ErrorNumber.words(for: cause)))" }
        return text
    }

    /// The message and, if there is one, the remedy.
    package var sentence: String {
        remedy.map { "\(message); \($0)" } ?? message
    }

    /// The remedy known where the failure arose, else the one for its code; nil when there is none.
    package var remedy: Remedy? {
        knownRemedy ?? code.remedy(for: subject)
    }

    /// Whether the failure was created with a remedy of its own.
    package var hasRemedyOfItsOwn: Bool { knownRemedy != nil }

    /// The same with a remedy for this client only: a command about an output, which names no client, would be about all.
    package func concerning(_ client: ClientName) -> Failure {
        guard knownRemedy == nil, case .path = place else { return self }
        var subject = subject
        subject.client = client.description
        let remedy = code.remedy(for: subject)
        return remedy == self.remedy ? self : with(remedy)
    }

    /// The same as a failure to write `metrics_file`: degrades the daemon, but no client.
    ///
    /// - Parameter remedy: a better one than the failure's; nil if none is known.
    package func ofMetricsFile(_ path: AbsolutePath, remedy: Remedy?) -> Failure {
        guard code != .metricsFileUnwritable else { return self }
        let prefix = "\(place): "
        let why = message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : message
        return Failure(.metricsFileUnwritable, at: .path(path), detail: why, remedy: remedy ?? self.remedy)
    }

    private var subject: FailureSubject {
        switch place {
        case .path(let path): FailureSubject(path: path.description, detail: detail, cause: cause)
        case .client(let name): FailureSubject(client: name.description, detail: detail, cause: cause)
        case .target(let name): FailureSubject(name: name.description, detail: detail, cause: cause)
        case .action(let action): FailureSubject(action: action.description, detail: detail, cause: cause)
        case .credential(let name): FailureSubject(credential: name, detail: detail, cause: cause)
        case .named(let name): FailureSubject(name: name, detail: detail, cause: cause)
        case .key, .clock: FailureSubject(detail: detail, cause: cause)
        }
    }
}

extension Failure.Place: CustomStringConvertible {
    /// One line; text that others chose is escaped.
    package var description: String {
        switch self {
        case .key(let name): "key \"\(name)\""
        case .client(let name): "client \"\(name)\""
        case .path(let path): Printable.line(path.description)
        case .target(let name): "target \"\(name)\""
        case .action(let action): Printable.line(action.description)
        case .credential(let name): "credential \"\(name)\""
        case .named(let name): Printable.line(name)
        case .clock: "the clock"
        }
    }
}
