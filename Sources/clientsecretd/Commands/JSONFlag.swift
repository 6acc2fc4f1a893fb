import ArgumentParser

struct JSONFlag: ParsableArguments {
    @Flag(name: .long, help: "Answer in JSON.")
    var json = false
}
