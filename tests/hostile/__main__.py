"""Run one case again and keep its folder: python -m tests.hostile '["info {town}", ["value",
"town/manifest.json", 3, 5]]'.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.hostile.cases import Case, Server
from tests.hostile.seeds import Store

directory = Path(tempfile.mkdtemp(prefix="hostile-"))
store = Store(directory / "store")
store.directory.mkdir()
server = Server(store, directory / "cases")
for script in sys.argv[1:]:
    verdict = server.run(Case.read(script), keep=True)
    sys.stdout.write("\n  ".join([script, *(verdict.offences or ["all is well"])]))
    sys.stdout.write(
        f"\n  exit code {verdict.code}, {verdict.seconds:.1f} s, {verdict.memory / 1e6:.0f} MB\n"
    )
    sys.stdout.write(f"{verdict.out[-2_000:]}\n{verdict.err[-4_000:]}\n")
server.close()
sys.stdout.write(f"the folders of the cases are in {directory / 'cases'}\n")
