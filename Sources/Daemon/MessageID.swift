/// The journal's `MESSAGE_ID` of each kind of ``LogEvent``, and of what is logged outside of the loop.
/// systemd/clientsecretd.catalog explains each. Never change one: people and programs search by them.
enum MessageID: String, Sendable, CaseIterable {
    case minted = "ef8d0d3f90c641cbb91272e381f9d145"
    case tookOver = "38f41d1b5f3c4dfc9ba331624dedbb3c"
    case published = "79e6f0bd724341cf9ec566fa15cd0afb"
    case ran = "f7e75fc7121f4cb8b7e9dac2644e69b6"
    case asked = "c0d52fbdeee2429085c6fda287bd99ac"
    case served = "9cefed270c2540689712c4bae808eb7c"
    case notServed = "e87ef9e771164ae29a55acc435f8cfdc"
    case failing = "5db99b2769554bec8aaa776afa7fddf0"
    case recovered = "7221d604c093424a81dce7d9064efbab"
    case health = "5a9834a94c4743beb1fcac65e487d765"
    case configured = "c87055c8673a43d29afeb9703af84e92"
    case refused = "f3473223dd754c84913da56eabe2a59c"
    case wouldNotStart = "1635b704aff64dbbb870e7fef1e103d6"
    case startedAsBefore = "d71b43052d984573914f5a89ed7ceb05"
    case passes = "b41a56015dc24cda9170ea267cb17763"
    case keyChanged = "1240f13238da4c178fd7f2176a15f851"
    case keyRestored = "1a524942e04a47919978041ae33aea44"
    case clockDistrusted = "840dce6bbce640d39e69444f9413caa6"
    case clockTrusted = "9ad34088d8c3424ba02d02be072ee8fd"
    case ready = "219130a66d594e308a2fa2930d2f8b2a"
    case faultRaised = "4a5bfbd456814cce93ea390dc91d1057"
    case faultCleared = "c2bee2f37f034687a00c98610192e19d"
    case orphaned = "3a7e308e3ca54c299f719652540dc2e4"
    case told = "b22a9f809e4b4c5e8be8da15451b8ff6"
    /// A line that a hook printed.
    case output = "cc0c79d73e93441b92fd0b57350d7adb"
    /// Something about the configuration or the machine that a person should see; nothing fails.
    case warning = "250f56ea56fa4e788da9b93bebc2ef82"
    /// What kept the daemon from starting, or from starting completely.
    case complaint = "a09dc216c73442eb821468a7fba80453"
}
