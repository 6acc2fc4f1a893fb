import Config
import Linux
import Model

/// The inotify queue with the watches of the configuration's directories. They are added before the configuration is read
/// for the first time, so that every change after that read is noticed and the configuration is not read a second time.
struct ConfigurationNotices: Sendable {
    /// Nil when it has no usable name; then it is not watched.
    let file: AbsolutePath?
    /// Nil where no inotify instance can be had; then files are read once a minute.
    let notices: Notices?
    private(set) var watches: [AbsolutePath: Int32] = [:]

    /// Blocks, as reading the configuration does.
    init(of file: AbsolutePath?) {
        self.file = file
        notices = try? Notices()
        guard let file, let notices else { return }
        // Where a watch cannot be added now, the watcher adds it later and has the configuration read again.
        for directory in [file.directory, ConfigurationParser.directory(of: file)] {
            let finding = Watcher.watch(directory, isNarrow: false, isOnlyAncestor: false, by: notices.inotify)
            if case .watched(_, let watch, _) = finding { watches[directory] = watch }
        }
    }
}

/// The inotify queue, shared by the loop and the workers that add watches.
final class Notices: Sendable {
    let inotify: Inotify

    init() throws(SystemError) { inotify = try Inotify() }
}
