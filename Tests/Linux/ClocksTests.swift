import Linux
import TestSupport
import Testing

struct ClocksTests {
    @Test func synchronisedIsWhatTheKernelSays() throws {
        let script = """
            import ctypes
            timex = ctypes.create_string_buffer(512)
            ctypes.CDLL(None).adjtimex(timex)
            print(int.from_bytes(timex.raw[40:44], 'little') & 0x40)
            """
        let unsynchronised = try run(["python3", "-c", script]).output
        #expect(Clocks.kernelSynchronised() == (unsynchronised == "0\n"))
    }
}
