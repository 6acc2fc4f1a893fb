package import Model
import Rotation

extension Failure {
    /// Why a secret that is minted now would be useless; nil if nothing is known against the clock.
    package static var ofMintingNow: Failure? { ofClock(builtAt: Version.builtAt, at: .current) }
}
