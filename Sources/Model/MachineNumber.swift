/// Tells the machines of a fleet apart in a record. A record with all their names would be too large.
package enum MachineNumber {
    /// The 32-bit FNV-1a hash of the machine's name. In one of a hundred fleets of ten thousand machines two have the same
    /// number: they count as one there.
    package static func of(_ machine: String) -> UInt32 {
        machine.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}
