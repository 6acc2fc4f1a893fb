"""dotenv-reader.py DIRECTORY: reads every *.env in it with python-dotenv and leaves the variables, each ended by a NUL,
in FILE.dotenv; no such file for one that it cannot read."""
import logging
import pathlib
import sys

import dotenv

logging.disable()  # It warns of each line that it skips.
for path in pathlib.Path(sys.argv[1]).glob("*.env"):
    try:
        values = dotenv.dotenv_values(path, interpolate=False)
    except UnicodeDecodeError:
        continue
    path.with_suffix(".env.dotenv").write_bytes(
        b"".join(f"{name}={value}\0".encode() for name, value in values.items() if value is not None)
    )
