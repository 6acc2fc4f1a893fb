/// How long one member of etcd has, in milliseconds.
package enum EtcdTimeouts {
    /// For a connection.
    package static let connection = 3_000
    /// For a request, connecting included.
    static let request = 3_000
    /// For a login: etcd hashes the password, which costs a tenth of a second, and logins queue there.
    static let login = 60_000
}
