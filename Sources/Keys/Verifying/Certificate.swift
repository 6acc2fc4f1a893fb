package import AppleClientSecret
internal import CLibcrypto
import Glibc

/// What a certificate says of itself (RFC 5280).
package enum Certificate {
    /// When the first certificate of a PEM file expires; nil for a text without one.
    package static func expiry(pem: String) -> WallTime? {
        let text = Array(pem.utf8)
        return unsafe text.withUnsafeBytes { bytes -> WallTime? in
            guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { unsafe BIO_free(source) }
            guard let certificate = unsafe PEM_read_bio_X509(source, nil, nil, nil) else {
                // Or the next operation would be thought to have failed.
                ERR_clear_error()
                return nil
            }
            defer { unsafe X509_free(certificate) }
            var parts = unsafe tm()
            guard unsafe ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) == 1 else { return nil }
            return unsafe WallTime(secondsSinceEpoch: Int64(timegm(&parts)))
        }
    }
}
