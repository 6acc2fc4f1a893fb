import Model
import Testing

@Suite struct AbsolutePathTests {
    /// To the kernel they are two files, although their texts are equal strings.
    @Test(arguments: [("/srv/caf\u{E9}", "/srv/cafe\u{301}"), ("/srv/K", "/srv/\u{212A}")])
    func areComparedByTheirBytes(one: String, other: String) throws {
        #expect(one == other)
        let paths = [try #require(AbsolutePath(one)), try #require(AbsolutePath(other))]
        #expect(Set(paths).count == 2)
        #expect((paths[0] < paths[1]) != (paths[1] < paths[0]))
    }
}
