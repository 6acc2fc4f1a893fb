/// Random choices, which the seed determines.
protocol Chance {
    func next() -> UInt64
}

extension Chance {
    func draw(_ bound: Int64) -> Int64 { Int64(next() % UInt64(bound)) }

    func chance(_ of: Int) -> Bool { draw(Int64(of)) == 0 }

    func pick<Element>(_ all: [Element]) -> Element { all[Int(next() % UInt64(all.count))] }
}
