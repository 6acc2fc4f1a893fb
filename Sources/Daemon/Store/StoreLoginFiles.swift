import AppleClientSecret
import Config
import Failures
import Glibc
import Keys
import Linux
import Model
import Rotation
import Store
import SystemPackage

/// The files with which this machine logs in to etcd: certificate, private key and password.
enum StoreLoginFiles {
    /// Why etcd would refuse this machine's login, as far as the configured files or those in the standard place show it.
    ///
    /// Files that a drop-in passes to the service are not known here. Files that `identity` may not read are left out: where
    /// systemd reads them, only root may. Blocks.
    ///
    /// - Parameters:
    ///   - directory: the standard place.
    ///   - service: the user of the service that reads the files.
    static func failures(
        of store: StoreConfiguration, in directory: String = StoreConfiguration.File.directory,
        as identity: Identity, readBy service: Identity, at now: WallTime
    ) -> [Failure] {
        func path(_ file: StoreConfiguration.File) -> String? {
            let standard = directory + "/" + file.name
            return store.files[file] ?? (FileStatus.problem(accessing: standard, F_OK) == nil ? standard : nil)
        }
        var failures: [Failure] = []
        func add(_ code: FailureCode, _ detail: String, _ remedy: Remedy? = nil) {
            failures.append(Failure(code, at: .store, detail: detail, remedy: remedy))
        }
        /// Adds why a file cannot be used, as the service finds it that reads it. Of a file in the standard place, which systemd
        /// reads, only that it is not guarded.
        func check(_ file: StoreConfiguration.File, _ read: (String) throws(LoginFile.Unusable) -> Void) {
            guard let path = path(file) else { return }
            do throws(LoginFile.Unusable) {
                try read(path)
            } catch {
                if error.isUnguarded {
                    add(.storeFileNotGuarded, error.words, error.remedy)
                } else if !error.isDenied, [.ca, .password].contains(file) || store.files[file] != nil {
                    add(.storeFileUnusable, error.words)
                }
            }
        }
        check(.ca) { path throws(LoginFile.Unusable) in try CAFile.check(at: path, as: service) }
        for file in [StoreConfiguration.File.certificate, .key] {
            check(file) { path throws(LoginFile.Unusable) in _ = try LoginFile.text(at: path, as: service) }
        }
        if store.user != nil {
            check(.password) { path throws(LoginFile.Unusable) in _ = try LoginFile.secret(at: path, as: service) }
            if path(.password) == nil {
                add(
                    .storeFileUnusable, "there is no \(directory)/\(StoreConfiguration.File.password.name) for the user"
                )
            }
        }
        if let certificatePath = path(.certificate), let bytes = read(certificatePath, as: identity) {
            let name = Printable.name(certificatePath)
            guard let certificate = Certificate(pem: String(decoding: bytes, as: UTF8.self)) else {
                add(.storeFileUnusable, "\(name) holds no certificate in PEM")
                return failures
            }
            if certificate.expiresAt <= now {
                add(.storeCertificateRefused, "\(name) expired at \(certificate.expiresAt)")
            } else if certificate.expiresAt < now + SecretStore.certificateNotice {
                add(.storeCertificateExpiring, "\(name) expires at \(certificate.expiresAt)")
            }
            // etcd's gateway would treat it as the user of that name.
            if store.user != nil, let commonName = certificate.commonName {
                add(.storeCertificateRefused, "\(name) has the CN \(Printable.name(commonName))")
            }
            if let keyPath = path(.key), let key = read(keyPath, as: identity) {
                let keyName = Printable.name(keyPath)
                switch Certificate.isOf(pem: bytes, privateKey: key) {
                case true?: break
                case false?: add(.storeFileUnusable, "the private key in \(keyName) does not belong to \(name)")
                case nil:
                    add(.storeFileUnusable, "\(keyName) holds no private key that can be read without a passphrase")
                }
            }
        }
        return failures
    }

    /// In bytes: a chain of certificates has some 10 KiB.
    private static let longest = 65_536

    private static func read(_ path: String, as identity: Identity) -> [UInt8]? {
        try? TrustedFile.read(path, for: .configuration, as: identity, limit: longest).bytes
    }
}
