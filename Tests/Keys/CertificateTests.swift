import AppleClientSecret
import Foundation
import Keys
import TestSupport
import Testing

@Suite struct CertificateTests {
    /// As OpenSSL's own program reads it.
    @Test func itExpiresWhenOpenSSLSaysSo() throws {
        let directory = try TemporaryDirectory()
        try shell(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 10 -subj /O=Tests -keyout key \
                -out certificate 2>/dev/null
            openssl req -x509 -key key -days 20 -subj /O=Authority -out authority
            date -u -d "$(openssl x509 -in certificate -noout -enddate | cut -d= -f2)" +%s >expiry
            """, in: directory)
        let certificate = try directory.read("certificate")
        let expiry = try #require(Int64(try directory.read("expiry").trimmingCharacters(in: .newlines)))
        for pem in [
            certificate, try certificate + directory.read("authority"), try directory.read("key") + certificate,
        ] {
            #expect(Certificate(pem: pem)?.expiresAt == WallTime(secondsSinceEpoch: expiry))
        }
        for pem in ["", "no certificate", try directory.read("key"), String(certificate.prefix(200))] {
            #expect(Certificate(pem: pem) == nil)
        }
    }

    @Test func itsCommonNameIsTheSubjects() throws {
        let directory = try TemporaryDirectory()
        func name(_ subject: String) throws -> String? {
            try shell(
                "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '\(subject)' -keyout key "
                    + "-out certificate 2>/dev/null", in: directory)
            return try #require(Certificate(pem: directory.read("certificate"))).commonName
        }
        #expect(try name("/O=Tests/CN=app17") == "app17")
        #expect(try name("/O=Tests") == nil)
    }
}
