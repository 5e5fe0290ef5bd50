"""Run one case again and keep its folder: python -m tests.hostile '["info {town}", ["value", "town/manifest.json", 3, 5]]'."""

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
    print(script, *(verdict.offences or ["all is well"]), sep="\n  ")
    print(f"  exit code {verdict.code}, {verdict.seconds:.1f} s, {verdict.memory / 1e6:.0f} MB")
    print(verdict.out[-2_000:], verdict.err[-4_000:], sep="\n")
server.close()
print(f"the folders of the cases are in {directory / 'cases'}")
