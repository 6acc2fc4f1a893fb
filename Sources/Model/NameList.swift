/// The first of these names, and how many more there are: `a, b and 3 more`.
package func listed(_ names: some Collection<String>, atMost limit: Int) -> String {
    let shown = names.prefix(limit).joined(separator: ", ")
    return names.count > limit ? "\(shown) and \(names.count - limit) more" : shown
}
