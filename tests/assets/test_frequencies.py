"""The marginals: Visual Genome's counts, other choices, and errors that say what to do."""

import csv
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.assets.catalogue import ENTITIES
from simtown.assets.frequencies import frequencies, table


def test_the_table_never_changes():
    """Golden: the marginals of every "vg" data set rest on it."""
    assert table()[:3] == (("man", 95357, 21344), ("window", 42339, 13119), ("person", 39819, 11133))
    assert table()[99] == ("bottle", 4240, 1130)
    assert (sum(s for _, s, _ in table()[:100]), sum(o for _, _, o in table()[:100])) == (755586, 775689)
    # all triples of the split: 821,166 + 41,324
    assert sum(s for _, s, _ in table()) == sum(o for _, _, o in table()) == 862490


@given(st.integers(1, 150), st.sampled_from(["vg", "uniform", "zipf:0", "zipf:1", "zipf:1.7", "zipf:10"]))
def test_frequencies_are_probabilities(k, choice):
    for p in frequencies(choice, k):
        assert (p.dtype, p.shape) == (np.float64, (k,))
        assert (p >= 0).all()
        assert p.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 15, 100])
def test_vg_is_in_proportion_to_the_counts(k):
    subject, obj = frequencies("vg", k)
    counts = np.array([row[1:] for row in table()[:k]], dtype=np.float64)
    assert np.allclose(subject, counts[:, 0] / counts[:, 0].sum(), rtol=1e-12)
    assert np.allclose(obj, counts[:, 1] / counts[:, 1].sum(), rtol=1e-12)
    assert k == 1 or not np.allclose(subject, obj)


@pytest.mark.parametrize("power", ["0", "0.5", "1", "2.25", "1e0"])
def test_zipf_and_uniform(power):
    subject, obj = frequencies(f"zipf:{power}", 30)
    weights = np.arange(1.0, 31.0) ** -float(power)
    assert np.allclose(subject, weights / weights.sum(), rtol=1e-9)
    assert np.array_equal(subject, obj)
    assert [p.tolist() for p in frequencies("uniform", 8)] == [[0.125] * 8] * 2


@pytest.fixture
def written(tmp_path):
    """Writes a table and returns its name."""

    def write(content):
        file = tmp_path / "counts.csv"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(file)

    return write


def test_a_table_of_ones_own(written):
    """Of columns in any order, and with rows beyond the wanted."""
    for text, *expected in (
        ('entity,subject,object\nbus,3,0\ncar,1.5,2\n"van, white",0.5,2\n', [0.6, 0.3, 0.1], [0, 0.5, 0.5]),
        ("object, note, subject\n1, x, 3\n3,y,1\n", [0.75, 0.25], [0.25, 0.75]),
        ("# mine\nentity,subject,object\n#1 sign,9,9\na,3,1\n", [0.75, 0.25], [0.9, 0.1]),
        ("entity,subject,object\na,1,1\nb,1,3\nc,5,5\n", [0.5, 0.5], [0.25, 0.75]),
    ):
        assert [role.tolist() for role in frequencies(written(text), len(expected[0]))] == expected


def test_the_packaged_table_is_a_template(written):
    """Who copies it to change it gets what it says."""
    text = files("simtown.assets").joinpath("entities150.csv").read_text(encoding="utf-8")
    assert np.array_equal(frequencies(written(text), 10)[0], frequencies("vg", 10)[0])


@pytest.mark.parametrize("choice", ["", "VG", "visual genome", "zipf", "missing.csv", "zipf-1", "."])
def test_unknown_choices_name_the_known_ones(choice):
    with pytest.raises(ValueError, match="zipf:S"):
        frequencies(choice, 5)


@pytest.mark.parametrize("power", ["", "a", "-1", "11", "nan", "inf", "1,5"])
def test_zipf_needs_a_sensible_power(power):
    with pytest.raises(ValueError, match="between 0 and 10"):
        frequencies(f"zipf:{power}", 5)


def test_vg_has_more_than_the_catalogue_and_no_more():
    assert all(len(role) == len(ENTITIES) for role in frequencies("vg", len(ENTITIES)))
    with pytest.raises(ValueError, match=r"`frequencies=vg`.*`entities=151`"):
        frequencies("vg", 151)


#: Rows below the names of the columns, and what the error says of them.
BAD_ROWS = {
    "a,1,1": "lists 1 entities, fewer than `entities=2`",
    "a,1,1|b,3,-0.5": "line 3, column object: '-0.5' is not a finite number of at least 0",
    "a,0,1|b,0,1": "not all zero",
    **dict.fromkeys(["a,nan,1|b,1,1", "a,inf,1|b,1,1"], "line 2, column subject"),
    "a,many,1|b,1,1": "line 2, column subject: 'many' is not a finite number",
    "a,1,5,2,5|b,0,5,1,5": "line 2 has 5 cells for 3 columns: quote a cell that holds a comma",
}
BAD_TABLES = {"entity,subject,object\n" + rows.replace("|", "\n"): says for rows, says in BAD_ROWS.items()}
BAD_TABLES |= {"entity,subject\na,1": "no column 'object'", b"\xff\xfe\x00\x01" * 10: "not UTF-8"}


@pytest.mark.parametrize(("content", "message"), BAD_TABLES.items())
def test_bad_tables_say_what_is_wrong(written, content, message):
    with pytest.raises(ValueError, match=message):
        frequencies(written(content), 2)


def test_the_table_is_the_recipe_of_the_documentation(reference_data):
    """docs/data-format.md: train and test counts added, sorted by the sum of both roles."""
    path = reference_data("vg-statistics/entity_marginals_150.tsv")
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))

    def stated(row, role):
        return int(row[f"as_{role}_train"]) + int(row[f"as_{role}_test"])

    counts = [(row["entity"], stated(row, "subject"), stated(row, "object")) for row in rows]
    counts.sort(key=lambda row: (-row[1] - row[2], row[0]))
    assert table() == tuple(counts)
