"""guide.py GUIDE [RECIPE]: prints a recipe of docs/systemd.md as the shell script that does what it says, or the names of
all recipes. A fenced block that follows a line of nothing but a path in backquotes and a colon is that file's content;
a block of `sh` is run; anything else would not be tried, and is an error."""

import re
import shlex
import sys

text = open(sys.argv[1], encoding="utf-8").read()
recipes = dict(re.findall(r"^### (.+)\n((?:(?!##).*\n?)*)", text, re.MULTILINE))
if len(sys.argv) == 2:
    print("\n".join(recipes))
    sys.exit()

steps = []
for path, kind, content in re.findall(r"(?:^`(/[^`]+)`:\n\n)?^```(\w*)\n(.*?)^```$", recipes[sys.argv[2]], re.M | re.S):
    if path:
        quoted = shlex.quote(path)
        steps.append(f'mkdir -p "$(dirname {quoted})"\nprintf %s {shlex.quote(content)} >{quoted}\n')
    elif kind == "sh":
        steps.append(content)
    else:
        sys.exit(f"{sys.argv[2]}: nobody would try this block:\n{content}")
if not steps:
    sys.exit(f"{sys.argv[2]}: there is nothing to do in it")
print("set -e\n" + "".join(steps), end="")
