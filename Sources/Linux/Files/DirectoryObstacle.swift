/// Why no command creates a missing directory.
package enum DirectoryObstacle: Error, Hashable, Sendable {
    /// systemd makes it for a unit, and gives it to that unit's user.
    case ofUnit(UnitDirectory)
    /// Another user may create names in this directory above it, or an access list there would go to the new one.
    case open(String)
    /// A reboot removes it, and root cannot safely make it at each boot.
    case volatile
    /// Nothing is missing, a stranger controls the way, or the user could not pass.
    case other
}
