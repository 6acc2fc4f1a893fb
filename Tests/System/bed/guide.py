"""guide.py PAGE [SECTION]: prints a section of a page in docs as the shell script that does what it says, or the names of
all sections that say to do something, in order. A fenced block that follows a line of nothing but a path in backquotes and a
colon is that file's content; a block of `sh` is run; anything else would not be tried, and is an error."""

import re
import shlex
import sys

text = open(sys.argv[1], encoding="utf-8").read()
sections = {name: body for name, body in re.findall(r"^##+ (.+)\n((?:(?!##+ ).*\n?)*)", text, re.M) if "\n```" in body}
if len(sys.argv) == 2:
    print("\n".join(sections))
    sys.exit()

steps = []
for path, kind, content in re.findall(r"(?:^`(/[^`]+)`:\n\n)?^```(\w*)\n(.*?)^```$", sections[sys.argv[2]], re.M | re.S):
    if path:
        quoted = shlex.quote(path)
        steps.append(f'mkdir -p "$(dirname {quoted})"\nprintf %s {shlex.quote(content)} >{quoted}\n')
    elif kind == "sh":
        steps.append(content)
    else:
        sys.exit(f"{sys.argv[2]}: nobody would try this block:\n{content}")
print("set -e\n" + "".join(steps), end="")
