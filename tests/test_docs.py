"""The documentation: the site has no broken link or reference, and the notebook runs from its first cell to its last."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import HANGS

ROOT = Path(__file__).parent.parent
NOTEBOOK = "needs nbclient and ipykernel: pip install 'simtown[docs]'"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs", reason="needs MkDocs: pip install 'simtown[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        env={**os.environ, "DISABLE_MKDOCS_2_WARNING": "true", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "reference" / "simtown" / "town" / "town" / "index.html").read_text(encoding="utf-8")
    assert "simtown.town.town.Town.place" in page


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path):
    nbclient = pytest.importorskip("nbclient", reason=NOTEBOOK)
    nbformat = pytest.importorskip("nbformat", reason=NOTEBOOK)
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'simtown[train]'")
    notebook = nbformat.read(ROOT / "docs" / "tutorial.ipynb", as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=HANGS, startup_timeout=HANGS, kernel_name="python3", resources=place).execute()
    said = "".join(output.get("text", "") for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs)
    reached = float(said.split("pbn        1000 examples: ")[1][:5])
    assert reached > 0.65, said  # six standard errors from chance, on the 400 test examples; how well it learns is measured elsewhere
