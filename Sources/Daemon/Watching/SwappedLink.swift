/// A link in the directory of mounted files, which the mounter swaps to replace all of them at once.
enum SwappedLink {
    /// The first is Kubernetes', of a mounted secret.
    static let names = ["..data"]
}
