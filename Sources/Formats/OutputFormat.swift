package import Model

/// A way in which a file holds secrets. Pure bytes: nothing here opens a file or judges a signature.
///
/// To add one, write it in a new file, put it into ``FormatRegistry/all``, and describe it in docs/configuration.md.
package protocol OutputFormat: Sendable {
    /// As `format:` and `--format` call it.
    static var name: String { get }
    /// The setting that goes with it in the configuration, without which it means nothing; nil if there is none.
    static var setting: FormatSetting? { get }
    /// Whether several outputs may share the file, and lines that others have written.
    static var isShared: Bool { get }
    /// The file's content, as an answer in a menu.
    static var words: String { get }

    /// - Parameter parameter: the setting's value if it concerns the whole file, checked before by ``FormatSetting/check``.
    init(parameter: String?)

    /// The content of these slots in the bytes. Throws for a file in which nothing can be read, but not for one slot of a shared
    /// file.
    func parse(_ bytes: [UInt8], slots: some Collection<FileSlot>) throws(FormatError) -> ParsedFile

    /// Whether a write would lose nothing but a secret in this format, of any program, or nothing at all.
    func mayReplace(_ bytes: [UInt8]) -> Bool

    /// The bytes with these secrets in their slots; everything else in a shared file stays unchanged.
    func render(_ secrets: [FileSlot: RenderedSecret], into bytes: [UInt8]) throws(FormatError) -> [UInt8]

    /// Why no new secret could be written into some of these slots of a shared file. The others can be written, all at once.
    /// Nothing of the kind holds for a file that is replaced as a whole.
    func editErrors(
        in bytes: [UInt8], at slots: some Collection<FileSlot>
    ) throws(FormatError) -> [FileSlot: FormatError]

    /// The content of the secret's place in a file of unknown format; nil if the file does not seem to have this format. More
    /// lenient than ``parse(_:slots:)``: `inspect` reports problems of a secret, and must find it first.
    static func candidate(in bytes: [UInt8], at slot: FileSlot) throws(FormatError) -> SecretCandidate?
}

extension OutputFormat {
    package func editErrors(in bytes: [UInt8], at slots: some Collection<FileSlot>) -> [FileSlot: FormatError] {
        [:]
    }
}
