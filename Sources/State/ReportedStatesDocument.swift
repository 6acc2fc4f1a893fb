package import AppleClientSecret
package import Model

// Names in files of earlier versions: never rename one.

extension ReportedStates: JSONDocument {
    package init(_ states: ReportedStates?, _ members: inout JSONMembers) throws(JSONError) {
        self.init()
        owed = try members("owed", states?.owed)
        stages = try members("stages", states?.stages)
        health = try members("health", states?.health)
        let starts = states?.starts.mapValues { $0.map(UnixTime.init) }
        self.starts = try members("starts", starts).mapValues { $0.map(\.moment) }
    }
}
