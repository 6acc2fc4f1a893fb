package import Linux

/// Descriptors that systemd holds for the service, and passes to its next process when this one dies
/// (`FileDescriptorStoreMax=` of the unit). They come back among ``PassedSockets``.
package enum DescriptorStore {
    /// Has systemd hold a copy of a connection until both of its ends are shut down. Does nothing where no service
    /// manager listens or reads, or its unit allows none.
    ///
    /// - Parameter name: the name with which it comes back.
    package static func hold(_ descriptor: borrowing Descriptor, as name: String) {
        _ = try? NotifySocket()?.store(descriptor, as: name)
    }
}
