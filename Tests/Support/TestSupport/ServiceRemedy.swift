/// What is said to help where one of the services that have a network does not listen beside a daemon whose socket is
/// elsewhere than the package's.
///
/// - Parameter listening: the arguments of what listens.
package func remedy(listening: String) -> String {
    "run clientsecretd-network next to the daemon, as the daemon's user, with the arguments \(listening)"
        + (listening.hasSuffix(" store") ? "" : "; run --once needs no socket")
}
