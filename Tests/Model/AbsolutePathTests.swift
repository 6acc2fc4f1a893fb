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

    /// A combining accent would merge with the slash before it.
    @Test(arguments: ["/srv/a", "/srv/\u{301}a", "/srv/a/b"]) func areBelowADirectoryByTheirBytes(path: String) throws {
        let path = try #require(AbsolutePath(path))
        for directory in ["/srv", "/"] { #expect(path.isBelow(try #require(AbsolutePath(directory)))) }
        for other in [path.description, "/sr"] { #expect(!path.isBelow(try #require(AbsolutePath(other)))) }
    }
}
