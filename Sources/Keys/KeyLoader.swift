internal import Failures
package import Linux
package import Model

/// Reads the configuration's keys from files and credentials.
package struct KeyLoader: Sendable {
    private let identity: Identity
    private let credentials: AbsolutePath?

    /// - Parameters:
    ///   - identity: the user that must own the key files, unless root does; no other user may read them.
    ///   - credentials: systemd's directory of credentials, `$CREDENTIALS_DIRECTORY`; nil when there is none.
    package init(as identity: Identity, credentials: AbsolutePath?) {
        self.identity = identity
        self.credentials = credentials
    }

    /// The public half of a key, of the private key or as the configuration has it.
    package func publicKey(of entry: KeyConfiguration) throws(Failure) -> PublicKey {
        guard case .publicKey(let spki) = entry.location else { return try load(entry).publicKey }
        guard let key = PublicKey(spki: spki) else {
            throw Failure(.publicKeyUnusable, at: Self.place(of: entry.location))
        }
        return key
    }

    /// The key of `entry`, ready to sign. Failures name the file or credential: the key's, or its passphrase's.
    package func load(_ entry: KeyConfiguration) throws(Failure) -> SigningKey {
        if case .file(let path) = entry.location, DiskTimeout.milliseconds != nil {
            // Only this waits for the disk. A key may take longer to decrypt.
            try DiskTimeout.require(
                at: path.description, silence: Failure(.notResponding, at: .path(path), detail: DiskTimeout.words)
            ) { () throws(Failure) in
                try read(entry)
            }
        }
        let passphrase = try passphrase(of: entry)
        return try withKeyFile(of: entry) { descriptor throws(Failure) in
            try SigningKey(descriptor: descriptor, place: Self.place(of: entry.location), passphrase: passphrase)
        }
    }

    /// Reads the files of a key, and keeps nothing.
    private func read(_ entry: KeyConfiguration) throws(Failure) {
        _ = try passphrase(of: entry)
        try withKeyFile(of: entry) { descriptor throws(Failure) in
            do throws(KeyError) {
                _ = try KeyFileReader(descriptor: descriptor)
            } catch {
                throw error.failure(at: Self.place(of: entry.location))
            }
        }
    }

    private func withKeyFile<Value>(
        of entry: KeyConfiguration, _ body: (Int32) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withFile(
            at: entry.location, limit: KeyFileReader.maximumLength, otherwise: .keyUnreadable,
            isSecret: { KeyFilePermissions.beginsAsPrivateKey($0) || Self.isDamagedKey(inFile: $0) },
            explain: { $0.keyFailure(at: $1) }, body: body)
    }

    private func passphrase(of entry: KeyConfiguration) throws(Failure) -> Passphrase? {
        guard let location = entry.passphrase else { return nil }
        return try withFile(
            at: location, limit: Passphrase.maximumFileLength, otherwise: .passphraseUnusable,
            isSecret: { isPassphrase(inFile: $0, of: entry.location) }, explain: { $0.passphraseFailure(at: $1) },
            body: { descriptor throws(Failure) in
                try Passphrase(descriptor: descriptor, place: Self.place(of: location))
            })
    }

    /// Whether the file at a real path holds the passphrase of the encrypted key, which no other file of the machine does. Both are
    /// read although others may read them: this decides only whether a command may close the file.
    private func isPassphrase(inFile path: String, of key: KeyConfiguration.Location) -> Bool {
        do {
            let file = try ForeignFile.open(path)
            let passphrase = try Passphrase(descriptor: file.raw, place: .named(path))
            let keyFile: Descriptor
            switch key {
            case .publicKey: return false
            case .file(let file): keyFile = try ForeignFile.open(file.description)
            case .credential(let name):
                keyFile = try CredentialFile.open(name, in: credentials, otherwise: .keyUnreadable)
            }
            return try KeyFileReader(descriptor: keyFile.raw).isOpened(by: consume passphrase)
        } catch {
            return false
        }
    }

    /// Whether the file at a real path holds a private key, although it is damaged. As above.
    private static func isDamagedKey(inFile path: String) -> Bool {
        do {
            let file = try ForeignFile.open(path)
            return try KeyFileReader(descriptor: file.raw).isDamagedKey
        } catch {
            return false
        }
    }

    private func withFile<Value: ~Copyable>(
        at location: KeyConfiguration.Location, limit: Int, otherwise: Failure.Code,
        isSecret: ((String) -> Bool)? = nil,
        explain: (FileError, AbsolutePath) -> Failure, body: (Int32) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch location {
        case .publicKey: throw Failure(.keyIsPublic, at: Self.place(of: location))
        case .credential(let name):
            let descriptor = try CredentialFile.open(name, in: credentials, otherwise: otherwise)
            return try body(descriptor.raw)
        case .file(let path):
            let file: OpenFile
            do throws(FileError) {
                file = try TrustedFile.open(
                    path.description, for: .key, as: identity, limit: limit, isSecret: isSecret)
            } catch {
                throw explain(error, path)
            }
            return try body(file.descriptor.raw)
        }
    }

    private static func place(of location: KeyConfiguration.Location) -> Failure.Place {
        switch location {
        case .file(let path): .path(path)
        case .credential(let name): .credential(name)
        case .publicKey: .named("public_key")
        }
    }
}

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
        do throws(FileError) { return try ForeignFile.open(path.description) } catch {
            let code: Failure.Code =
                switch error.code {
                case .missing, .notADirectory: .credentialMissing
                case .isDirectory, .isMountPoint: .notARegularFile
                case .notARegularFile, .outOfDescriptors, .outOfMemory, .ioError: error.code
                default: otherwise
                }
            throw Failure(code, at: place, cause: code == .credentialMissing ? nil : error.cause)
        }
    }
}
