/// The clients of a snapshot, in the order of their names.
///
/// Each by reference: a snapshot of ten thousand clients, nearly all of them as in the one before, is taken again and again
/// while they are renewed, and neither copies nor compares what is the same.
package struct ClientViews: RandomAccessCollection, MutableCollection, Hashable, Sendable, ExpressibleByArrayLiteral {
    /// One client's view, which never changes.
    package final class Shared: Sendable {
        package let view: ClientView

        package init(_ view: ClientView) {
            self.view = view
        }
    }

    private var all: [Shared]

    package init(_ views: some Sequence<ClientView>) {
        all = views.map(Shared.init)
    }

    package init(shared: [Shared]) {
        all = shared
    }

    package init(arrayLiteral views: ClientView...) {
        self.init(views)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { all.count }

    package subscript(_ index: Int) -> ClientView {
        get { all[index].view }
        set { all[index] = Shared(newValue) }
    }

    package static func == (left: ClientViews, right: ClientViews) -> Bool {
        left.all.count == right.all.count
            && zip(left.all, right.all).allSatisfy { $0 === $1 || $0.view == $1.view }
    }

    package func hash(into hasher: inout Hasher) {
        for shared in all { hasher.combine(shared.view) }
    }
}
