/// `a`, `a or b`, `a, b or c`.
///
/// - Parameter word: between the last two.
package func alternatives(_ names: some Sequence<String>, joinedBy word: String = "or") -> String {
    let names = Array(names)
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " \(word) " + last
}
