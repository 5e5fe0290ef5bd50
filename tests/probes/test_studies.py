"""probe compare finds out what made its directories."""

import json

import pytest

pytest.importorskip("torch", reason="needs torch: pip install '.[probes]'")
pytest.importorskip("sklearn", reason="needs scikit-learn: pip install '.[probes]'")


def make(path, name, content):
    path.mkdir(exist_ok=True)
    (path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_directories_that_cannot_be_compared(cli, tmp_path):
    spatial = make(tmp_path / "a", "run.json", {"format": "simtown spatial relations"})
    visual = make(tmp_path / "b", "summary.json", {"format": "simtown visual commonsense"})
    cli("probe", "compare", spatial, visual).refuses("simtown probe spatial", "simtown probe visual", "cannot be compared")
    cli("probe", "compare", spatial, tmp_path / "none").refuses("holds no results")
    cli("probe", "compare", spatial, spatial).refuses("holds no finished simtown probe spatial")


@pytest.mark.parametrize(("content", "code"), [("{", 1), ("[]", 1), ({"status": 1}, 1), ({"format": "other"}, 2), ({"format": []}, 2)])
def test_what_is_no_study(cli, tmp_path, content, code):
    cli("probe", "compare", *[make(tmp_path / "a", "summary.json", content)] * 2).refuses("summary.json", code=code)
