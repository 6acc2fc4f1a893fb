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
    /// - Parameter directory: the standard place.
    static func failures(
        of store: StoreConfiguration, in directory: String = StoreConfiguration.File.directory,
        as identity: Identity, at now: WallTime
    ) -> [Failure] {
        func path(_ file: StoreConfiguration.File) -> String? {
            let standard = directory + "/" + file.name
            return store.files[file] ?? (FileStatus.problem(accessing: standard, F_OK) == nil ? standard : nil)
        }
        var failures: [Failure] = []
        func add(_ code: FailureCode, _ detail: String) {
            failures.append(Failure(code, at: .store, detail: detail))
        }
        for file in StoreConfiguration.File.allCases {
            // Problems of the password are found where it is read.
            guard file != .password || store.user == nil, let named = file == .ca ? path(file) : store.files[file]
            else {
                continue
            }
            let words = objection { () throws(LoginFile.Unusable) in
                if file == .ca { try LoginFile.checkAuthorities(at: named) } else { _ = try LoginFile.text(at: named) }
            }
            if let words { add(.storeFileUnusable, words) }
        }
        if store.user != nil {
            if let path = path(.password) {
                let words = objection { () throws(LoginFile.Unusable) in _ = try LoginFile.secret(at: path) }
                if let words { add(.storeFileUnusable, words) }
            } else {
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

    /// Why a file cannot be used, as the service finds it that reads it.
    private static func objection(_ read: () throws(LoginFile.Unusable) -> Void) -> String? {
        do throws(LoginFile.Unusable) {
            try read()
            return nil
        } catch {
            return error.isDenied ? nil : error.words
        }
    }

    /// In bytes: a chain of certificates has some 10 KiB.
    private static let longest = 65_536

    private static func read(_ path: String, as identity: Identity) -> [UInt8]? {
        try? TrustedFile.read(path, for: .configuration, as: identity, limit: longest).bytes
    }
}
