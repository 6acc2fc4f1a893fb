#!/bin/bash
# Every command that is printed as help, over many owners, modes, links and mounts, typed as root: it gives nothing away, and
# what it was printed for is gone.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

set_up
useradd --system app
useradd --system eve
useradd --system friend
exec python3 -I /src/Tests/System/bed/matrix.py "$1"
