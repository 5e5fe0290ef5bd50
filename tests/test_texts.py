"""benchmarks/texts.py: two texts of as many words, whole phrases in their order."""

import gzip
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "texts.py"


def test_both_texts_have_as_many_words_and_no_headings(tmp_path):
    captions, descriptions, wiki = (tmp_path / name for name in ("c.txt", "d.txt.gz", "w.txt"))
    captions.write_text("a red bus on a street\n\n" * 30)
    descriptions.write_bytes(gzip.compress(b"green ball\n" * 300))
    wiki.write_text("= Title =\n\n" + "The bus is red . It moves ! Is it old ?\n" * 20)
    command = [sys.executable, SCRIPT, "--captions", captions, "--descriptions", descriptions]
    made = subprocess.run(
        [*command, "--encyclopedia", wiki, "--out", tmp_path / "out"], check=True, capture_output=True
    )
    seen, written = ((tmp_path / "out" / f"{name}.txt").read_text() for name in ("captions", "encyclopedia"))
    assert written.splitlines() == ["The bus is red .", "It moves !", "Is it old ?"] * 20
    assert 0 <= len(seen.split()) - len(written.split()) < 2
    phrases = seen.splitlines()
    first = phrases.index("green ball")
    assert set(phrases[:first]) == {"a red bus on a street"}
    assert 0 <= len(" ".join(phrases[:first]).split()) - len(written.split()) // 2 < 6
    assert b"60 phrases" in made.stdout


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    command = [sys.executable, SCRIPT, "--captions", "no.txt", "--descriptions", SCRIPT]
    told = subprocess.run(
        [*command, "--encyclopedia", SCRIPT, "--out", tmp_path / "out"], capture_output=True, text=True
    )
    assert told.returncode == 2
    assert "no.txt is no file" in told.stderr
    assert not (tmp_path / "out").exists()
