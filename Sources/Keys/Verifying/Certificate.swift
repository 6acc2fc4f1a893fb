package import AppleClientSecret
internal import CLibcrypto
import Glibc

/// The claims of a PEM file's first certificate (RFC 5280).
package struct Certificate: Hashable, Sendable {
    package let expiresAt: WallTime
    /// The CN of its subject; nil without one.
    package let commonName: String?

    /// Nil for a text without a certificate.
    package init?(pem: String) {
        let text = Array(pem.utf8)
        let parts = unsafe text.withUnsafeBytes { bytes -> (WallTime, String?)? in
            guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { unsafe BIO_free(source) }
            guard let certificate = unsafe PEM_read_bio_X509(source, nil, nil, nil) else {
                // Or the next operation would be thought to have failed.
                ERR_clear_error()
                return nil
            }
            defer { unsafe X509_free(certificate) }
            var moment = unsafe tm()
            guard unsafe ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &moment) == 1 else { return nil }
            // A CN has at most 64 characters (RFC 5280, appendix A.1); a longer one is cut.
            var name = [CChar](repeating: 0, count: 257)
            let length = unsafe X509_NAME_get_text_by_NID(
                X509_get_subject_name(certificate), NID_commonName, &name, Int32(name.count))
            let commonName =
                length < 0
                ? nil : String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return unsafe (WallTime(secondsSinceEpoch: Int64(timegm(&moment))), commonName)
        }
        guard let parts else { return nil }
        (expiresAt, commonName) = parts
    }

    /// Whether a private key is that of the first certificate of a PEM file.
    ///
    /// - Parameters:
    ///   - pem: the text of the certificate's file.
    ///   - key: the text of the key's file, of any kind that OpenSSL supports.
    /// - Returns: nil if there is no certificate, or no key that can be read without a passphrase.
    package static func isOf(pem: [UInt8], privateKey key: [UInt8]) -> Bool? {
        unsafe pem.withUnsafeBytes { pem in
            unsafe key.withUnsafeBytes { key in
                // Also for a pair that does not match.
                defer { ERR_clear_error() }
                guard let certificateSource = unsafe BIO_new_mem_buf(pem.baseAddress, Int32(pem.count)) else {
                    return nil
                }
                defer { unsafe BIO_free(certificateSource) }
                guard let certificate = unsafe PEM_read_bio_X509(certificateSource, nil, nil, nil) else { return nil }
                defer { unsafe X509_free(certificate) }
                guard let keySource = unsafe BIO_new_mem_buf(key.baseAddress, Int32(key.count)) else { return nil }
                defer { unsafe BIO_free(keySource) }
                // Without this function OpenSSL would ask for a passphrase at the terminal.
                guard
                    let key = unsafe PEM_read_bio_PrivateKey(keySource, nil, { _, _, _, _ in -1 }, nil)
                else { return nil }
                defer { unsafe EVP_PKEY_free(key) }
                return unsafe X509_check_private_key(certificate, key) == 1
            }
        }
    }
}
