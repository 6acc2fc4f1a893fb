/// A token that a key has signed whose private half is gone, so that no other token is good.
enum IdentitySample {
    static let client = "com.example.web"
    static let nonce = "n-0S6_WzA2Mj"
    static let issuedAt: Int64 = 1_790_000_000
    static let signingInput =
        "eyJraWQiOiJmdXp6IiwiYWxnIjoiUlMyNTYifQ.eyJpc3MiOiJodHRwczovL2FwcGxlaWQuYXBwbGUuY29tIiwiYXVkIjoiY29tL"
        + "mV4YW1wbGUud2ViIiwiZXhwIjoxNzkwMDAwNjAwLCJpYXQiOjE3OTAwMDAwMDAsInN1YiI6IjAwMTIzNC5hYmMuNTY3OCIsIm5vb"
        + "mNlIjoibi0wUzZfV3pBMk1qIn0"
    static let signature =
        "T1AcJWoluMTi0qbDGfO64jitGtSVy8v1o68h_z4OxvYM2P899BoDZGwT62hOn_234lSTlDIqL1g5c5lMUlXlM0KXjBHe3BUmFC5J"
        + "FDtPMGdE5nOG8SuZRA25ZieTObo2NsL5-K9WP9ZsIGyahaRSJb40aKCy3OzgsRyGWTi_0nyAlBbnkdWJO_wwWC-K3wPne3eCfQf7"
        + "QYtUk9mdmD7QLNZbxnGrDqcxgftMldI85f0XJlTeel7GdUwMaJTuAnai1MDA6BITT6J2LTDfNrdufS-j-xQfAearEttxNKbAsVkC"
        + "N1UuhJRdHXfmFL-M1tnLQ0IgaHVQP-mCpfzp1qbujA"
    static let modulus =
        "vKdTCUQhBfn1o-XdlQy2esSKc3HteF7GjlcAlaFWsXY-MC39GZjKxadz49ykA3J8JRSIK5hQEOMQKHGSOGV5uqDHVkya20509fLg"
        + "B-6TVyp-oIW0qWg3zfMopAuN14Frrt7OLb6bhtI8yvqJpk8frXldv6MAsf31oL-e3kCw4P8MSHlCgKq5ZJR-n-WYRxzJWfGkXMd7"
        + "IXhsfqFZ-BAq3Ca_gKC2zAopzaLTINRzX9xLK2olwrB60GpNS8QJJQtU4_4c6kuHMvsmWQAmJw88YP760ImtpV_rQNaYd-oqq1AV"
        + "_JlY7RUI_rWiXYIKFAMetHl7lrhqInzvqK8uxYUmQQ"
    static let keys = #"{"keys":[{"kty":"RSA","kid":"fuzz","use":"sig","alg":"RS256","n":"\#(modulus)","e":"AQAB"}]}"#
}
