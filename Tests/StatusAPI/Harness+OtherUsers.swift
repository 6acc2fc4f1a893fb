import Foundation
import TestSupport
import Testing

/// Comes to the socket as other users, which only root can.
extension Harness {
    /// The answers to these requests, each on a connection of its own that stays open until the last one is answered.
    func received(_ requests: [String], user: Int, group: Int = 9999, groups: String? = nil)
        throws -> [String]
    {
        let finished = try run(
            ["setpriv", "--reuid=\(user)", "--regid=\(group)", groups.map { "--groups=\($0)" } ?? "--clear-groups"]
                + ["/usr/bin/python3", "-c", Self.client, socket] + requests)
        #expect(finished.status == 0, "\(finished.complaints)")
        return try JSONDecoder().decode([String].self, from: Data(finished.output.utf8))
    }

    /// Sends each request on a connection of its own and prints the answers as a JSON list.
    private static let client = """
        import json, socket, sys
        held, answers = [], []
        for text in sys.argv[2:]:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(30)
            connection.connect(sys.argv[1])
            held.append(connection)
            try:
                connection.sendall(text.encode())
            except BrokenPipeError:
                pass  # turned away before it had said anything
            answer = b""
            while b"\\r\\n\\r\\n" not in answer:
                answer += connection.recv(65536)
            head = answer.split(b"\\r\\n\\r\\n")[0]
            whole = len(head) + 4 + int(head.split(b"content-length: ")[1].split(b"\\r\\n")[0])
            while len(answer) < whole:
                answer += connection.recv(65536)
            answers.append(answer.decode())
        print(json.dumps(answers))
        """
}
