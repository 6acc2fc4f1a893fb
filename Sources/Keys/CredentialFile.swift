internal import Failures
internal import Glibc
internal import Linux
internal import Rotation

/// A file below `$CREDENTIALS_DIRECTORY`: systemd created it and guards it, so only its kind is checked.
enum CredentialFile {
    /// Opens the credential of this name.
    ///
    /// - Parameters:
    ///   - directory: nil when systemd has passed no credentials.
    ///   - otherwise: the code for errors without their own.
    static func open(
        _ name: String, in directory: AbsolutePath?, otherwise: Failure.Code
    ) throws(Failure) -> Descriptor {
        let place = Failure.Place.credential(name)
        guard let path = directory?.appending(name) else { throw Failure(.credentialMissing, at: place) }
        // A blocking open of a FIFO would wait until somebody writes into it.
        let raw = unsafe Glibc.open(path.description, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard raw >= 0 else {
            let code: Failure.Code =
                switch errno {
                case ENOENT, ENOTDIR: .credentialMissing
                case EMFILE, ENFILE: .outOfDescriptors
                case ENOMEM: .outOfMemory
                case EIO: .ioError
                default: otherwise
                }
            throw Failure(code, at: place, cause: code == .credentialMissing ? nil : errno)
        }
        let descriptor = Descriptor(adopting: raw)
        var status = stat()
        guard unsafe fstat(descriptor.raw, &status) == 0 else { throw Failure(otherwise, at: place, cause: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(.notARegularFile, at: place) }
        return descriptor
    }
}
