package import Model

/// The result of one plan: the work to do now.
package struct Step: Sendable {
    package var start: [Job] = []
    package var wake = Wake()
    package var changes: [LogEvent] = []
    /// To be served before any job starts: a unit that is restarted requests its secret at once.
    package var served: [ServedSecret] = []
    package var answers: [(RequestID, Answer)] = []
    /// Whether everything is done: the loop may end.
    package var ended = false
}
