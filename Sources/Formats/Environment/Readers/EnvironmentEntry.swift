/// One assignment as a reader finds it.
struct EnvironmentEntry: Hashable {
    /// The variable, as bytes: a Swift string counts the Kelvin sign as the letter K. A name that no variable can have is for
    /// something else that an edit must not remove, such as a command.
    var name: [UInt8]
    /// From the name, or the `export` before it, to the end of the value.
    var range: Range<Int>
}
