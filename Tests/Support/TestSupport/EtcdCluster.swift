import Foundation

/// Three members of etcd on loopback, with certificates and users (Tests/Support/etcd/cluster.py), for as long as this value
/// is there.
package final class EtcdCluster {
    /// Where its certificates lie, such as `ca.pem` and `client.key`.
    package let directory: TemporaryDirectory
    /// `https://HOST:PORT` of each member, in the order of their numbers.
    package let endpoints: [String]
    private let program: Background

    /// Returns once all serve.
    ///
    /// - Parameters:
    ///   - link: a link into whose first namespace they are put, where they serve on its address as well.
    package init(behind link: NetworkLink? = nil) throws {
        directory = try TemporaryDirectory()
        program = try Background(
            (link?.near ?? []) + [
                "/usr/bin/python3", repository + "/Tests/Support/etcd/cluster.py", directory.path,
                repository + "/.build/etcd/usr/bin",
            ] + (link == nil ? [] : [NetworkLink.nearAddress]), last: "end", waiting: false)
        let first = try program.next()
        guard let endpoints = first["endpoints"] as? [String] else {
            throw TestFailure("etcd did not start: \(first)")
        }
        self.endpoints = endpoints
    }

    /// Gives it an order; returns the order's result, a number or a text.
    @discardableResult
    package func order(_ order: String) throws -> Any? {
        try program.write(order)
        let answer = try program.next()
        if let error = answer["error"] { throw TestFailure("\(order): \(error)") }
        return answer["result"]
    }
}
