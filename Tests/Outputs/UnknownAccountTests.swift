import Failures
import Model
import Outputs
import Testing

struct UnknownAccountTests {
    /// Users and groups of every Debian.
    @Test func theNearestNameIsProposed() {
        let group = Failure.unknownGroup("www-dat", at: .named("www-dat"))
        #expect(
            group.sentence
                == "www-dat: there is no such group; correct the name (did you mean \"www-data\"?), or add the group")
        let user = Failure.unknownUser("nobdy", at: .named("an output"))
        #expect(
            user.sentence
                == "an output: there is no such user: nobdy; correct the name (did you mean \"nobody\"?), or add the user"
        )
        #expect(Failure.unknownUser("zzzzzzzz", at: .named("x")).remedy == FailureCode.unknownUser.remedy(for: .init()))
    }
}
