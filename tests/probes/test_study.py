"""A study of one's own in Python and as a table, and what all directories of results have in common."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from simtown.core.files import ForeignDirectoryError
from simtown.probes.item_study import compare_items, item_study
from simtown.probes.items import ItemsError, make_items, read_items
from simtown.probes.studies import STUDIES
from simtown.probes.study import run
from simtown.probes.study_settings import ItemSettings, ScorerOptions

TABLE = """subject,gold,group
lemon,yellow,fruit
banana,yellow,fruit
grass,green,plant
apple,red=5|green=3,fruit
snow,white,other
"""
TEXT = "the lemon is yellow .\nthe banana is yellow .\nthe grass is green .\nan apple is red .\n"


def make(path, name, content):
    path.mkdir(exist_ok=True)
    (path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.fixture
def model(tmp_path):
    """A trigram model that has read of some colours."""
    (tmp_path / "corpus.txt").write_text(TEXT)
    return f"ngram:{tmp_path / 'corpus.txt'}"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "fruit.csv"
    path.write_text(TABLE)
    return path


def test_directories_that_cannot_be_compared(cli, tmp_path):
    empty = {"schema": 1, "tasks": {}, "settings": {}}
    spatial = make(tmp_path / "a", "summary.json", {"format": "simtown spatial relations", **empty})
    visual = make(tmp_path / "b", "summary.json", {"format": "simtown visual commonsense", **empty})
    different = cli("probe", "compare", spatial, visual)
    different.refuses("simtown probe spatial", "simtown probe visual", "cannot be compared")
    cli("probe", "compare", spatial, tmp_path / "none").refuses("there is no folder")
    cli("probe", "compare", spatial, spatial).refuses("holds no finished simtown probe spatial")


@pytest.mark.parametrize(("content", "code"), [("{", 1), ("[]", 2), ({"format": "other"}, 2)])
def test_what_is_no_study(cli, tmp_path, content, code):
    words = ("probe", "compare", *[make(tmp_path / "a", "summary.json", content)] * 2)
    cli(*words).refuses(str(tmp_path / "a"), code=code)


def test_every_study_is_known_by_the_name_and_format_of_its_record():
    known = STUDIES.values()
    assert [study.name for study in known if study is not STUDIES["pairs"]] == [*STUDIES][:-1]
    assert len({study.record.form for study in known}) == len(known)
    tables = [name for study in known for name in study.printed]
    assert len(set(tables)) == len(tables)


# A table of one's own

TEMPLATES = ("--template", "the [X] is [Y] .", "--template", "[X] is [Y] .")


@pytest.fixture
def ask(cli, table, model, tmp_path):
    """ask(*options, out="out", table=..., model=...): the command on the table, and what it wrote."""

    def run(*options, out="out", table=table, model=model):
        return cli("probe", "ask", table, "--model", model, "--out", tmp_path / out, *options)

    return run


def written(out):
    """The modes of summary.json, and the rows."""
    summary = json.loads((out / "summary.json").read_text())["tasks"]["items"]
    return summary["modes"], pq.read_table(out / "items.parquet").to_pylist()


def test_a_table_is_asked_continued_and_compared(ask, cli, table, tmp_path, contents):
    out = tmp_path / "out"
    assert "Everything is in" in ask(*TEMPLATES).succeeds().out
    files = {"summary.json", "summary.csv", "summary.md", "items.parquet", "items.png"}
    assert {path.name for path in out.iterdir()} == files
    modes, rows = written(out)
    groups = modes["average"]["groups"]
    assert set(groups) == {"all", "fruit", "plant", "other"}
    for numbers in groups.values():
        assert numbers["rho"]["low"] <= numbers["rho"]["mean"] <= numbers["ceiling_rho"] + 1e-9
        accuracy = numbers["accuracy"]
        assert 0 <= accuracy["low"] <= accuracy["mean"] <= accuracy["high"] <= 1
    assert groups["all"]["prior_accuracy"] == 2 / 5  # yellow is the one class that two items have
    rows = [row for row in rows if row["mode"] == "average"]
    assert [row["subject"] for row in rows] == ["lemon", "banana", "grass", "apple", "snow"]
    assert sum(row["right"] for row in rows) == pytest.approx(5 * groups["all"]["accuracy"]["mean"])
    before = contents(out)
    ask(*TEMPLATES).succeeds()
    assert contents(out) == before
    ask(*TEMPLATES, "--classes", "yellow,green,red,white,blue").refuses("classes", "another")
    table.write_text(TABLE.replace("snow,white", "coal,red"))
    ask(*TEMPLATES).refuses("other items data")
    table.write_text(TABLE)
    (tmp_path / "corpus.txt").write_text(TEXT.replace("yellow", "green"))
    ask(*TEMPLATES).refuses("weights ", "another")
    assert contents(out) == before
    (tmp_path / "corpus.txt").write_text(TEXT)
    ask(*TEMPLATES, "--protocol", "paper", out="other").succeeds()
    assert "items, average, fruit" in cli("probe", "compare", out, tmp_path / "other").succeeds().out


def test_items_may_have_sentences_and_classes_of_their_own(ask, cli, tmp_path):
    table = tmp_path / "own.csv"
    table.write_text(
        "subject,gold,classes,template\n"
        "lemon,yellow,yellow|green,the lemon is [Y] .\n"
        "grass,green,yellow|green|grey=gray,the [X] is [Y] .\n"
        "grass,yellow,yellow|green|grey=gray,the [X] is [Y] .\n"
    )
    ask(table=table).succeeds()
    modes, rows = written(tmp_path / "out")
    numbers = modes["average"]["groups"]["all"]
    assert "rho" not in numbers
    assert numbers["ceiling_accuracy"] == pytest.approx(2 / 3)  # one question has two answers
    assert numbers["chance_accuracy"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 3) / 3)
    assert all(set(row["said"].split("|")) <= {"yellow", "green", "grey"} for row in rows)
    assert np.isneginf(rows[0]["logprob"][2])
    assert "[0.0, 0.0]" in cli("probe", "compare", *[tmp_path / "out"] * 2).succeeds().out


def test_word_vectors_learn_from_the_rows_to_train_on(ask, tmp_path):
    table, vectors = tmp_path / "sizes.csv", tmp_path / "vectors.txt"
    names = [f"{size}{i}" for i in range(8) for size in ("small", "large")]
    rows = [f"{name},{name[:5]},{int(i < 12)}\n" for i, name in enumerate(names)]
    table.write_text("subject,gold,train\n" + "".join(rows))
    vectors.write_text("".join(f"{n} {1 if n[0] == 's' else -1} {i / 9}\n" for i, n in enumerate(names)))
    how = {"table": table, "model": f"glove:{vectors}"}
    ask("--template", "[X] is [Y]", **how).succeeds()
    numbers = written(tmp_path / "out")[0]["head"]["groups"]["all"]
    assert (numbers["n"], numbers["accuracy"]["mean"]) == (4, 1)
    table.write_text(table.read_text().replace(",1\n", ",0\n"))
    ask("--template", "[X] is [Y]", out="none", **how).refuses("items to learn from")


REFUSED = [
    (",said\nsnow,white,a\n", ("column 'said'",)),
    ("\nsnow,white=5|white=3\n", ("line 2", "'white' twice")),
    ("\n", ("train 0",)),
    ("\nsnow\n", ("line 2", "cells")),
    ("\nsnow,white\n\n \nrose,red\n,red\n", ("line 6", "'subject'")),
    ("\nsnow,white\n", ("one class",)),
    ("\nsnow,white=x\n", ("line 2", "white=x")),
    ("\nsnow,white=nan\n", ("line 2",)),
    ("\nsnow,white=0|red=0\n", ("counts nothing",)),
    (",classes\nsnow,white,red|green\n", ("none of the classes red, green",)),
    (",train\nsnow,white,2\nrose,red,0\n", ("line 2", "train")),
    (",train\nsnow,white,1\nrose,red,1\n", ("no item with train 0",)),
    (",template\nsnow,white,it is\nrose,red,[Y]\n", ("line 2", "column 'template'")),
    (",group\nsnow,white,all\nrose,red,a\n", ("line 2", "'all'")),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_tables_that_cannot_be_asked(ask, table, tmp_path, text, words):
    table.write_text(text and f"subject,gold{text}")
    ask("--template", "[X] is [Y]", model="oracle:x").refuses(table.name, *words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("templates", [(), ("[X] is",), ("is [Y]",), ("[X] [X] [Y]",)])
def test_templates_that_cannot_be_filled(table, templates):
    with pytest.raises(ItemsError, match="template"):
        read_items(table, templates)


def test_answers_to_different_questions_are_not_compared(ask, cli, table, tmp_path):
    """Another right answer, or another sentence, makes another question of the same subject."""
    ask("--template", "[X] is [Y] .", out="a").succeeds()
    ask("--template", "the [X] is [Y] .", out="b").succeeds()
    table.write_text(TABLE.replace("grass,green", "grass,yellow"))
    ask("--template", "[X] is [Y] .", out="c").succeeds()
    for other in "bc":
        compared = cli("probe", "compare", tmp_path / "a", tmp_path / other)
        compared.refuses("different questions about items", "right answers")


def test_items_without_an_answer_are_wrong_and_counted(ask, cli, tmp_path):
    """A model that knows no class of some items says nothing of them; of equal classes it says all."""
    table = tmp_path / "known.csv"
    table.write_text(
        "id,subject,gold,classes\n7,a,yes,yes|no\n8,b,red,red|blue\n9,c,red,red|blue\n"
        "10,d,blue|red,blue|red|jet\n11,[Y],red|jet,red|jet\n"
    )
    answers = {"b is [BLANK] .": {"red": 0.2, "blue": 0.2}, "c is [BLANK] .": {"red": 0.3, "blue": 0.2}}
    answers |= {"d is [BLANK] .": {"red": 0.3, "blue": 0.2}, "[Y] is [BLANK] .": {"red": 0.3}}
    (tmp_path / "answers.json").write_text(json.dumps({"classes": {"a is [BLANK] .": {}, **answers}}))
    out = tmp_path / "out"
    asked = ask("--template", "[X] is [Y] .", table=table, model=f"oracle:{tmp_path / 'answers.json'}")
    said = asked.succeeds().out
    assert "no answer to 1 of 5 items" in said
    assert "cannot say these gold words of 2 of 5 items, and ranks them last: yes, jet" in said
    assert "not read: id" in said
    modes, rows = written(out)
    numbers = modes["average"]["groups"]["all"]
    assert (numbers["unanswered"], numbers["accuracy"]["mean"]) == (1, pytest.approx(3.5 / 5))
    said = [(None, 0), ("red|blue", 0.5), *[("red", 1)] * 3]
    assert [(row["said"], row["right"]) for row in rows] == said
    assert [row["id"] for row in rows] == ["7", "8", "9", "10", "11"]
    assert "70.0" in cli("probe", "compare", out, out).succeeds().out


# A study in Python


def sounds():
    """A study as docs/probes.md writes it."""
    animals = make_items("animals", ["cow", "dog", "cat"], ["moo", "bark", "meow"], ["the [X] says [Y] ."])
    return item_study("sounds", animals)


def test_a_study_in_python(tmp_path):
    said = "the cow says moo .\nthe dog says bark .\nthe cat says meow .\n"
    (tmp_path / "corpus.txt").write_text(f"{said * 2}a cow sleeps .\n")
    study, settings = sounds(), ItemSettings(f"ngram:{tmp_path / 'corpus.txt'}")
    results = run(study, tmp_path, settings, tmp_path / "out")
    numbers = results.tasks["animals"]["modes"]["average"]["groups"]["all"]
    assert numbers["accuracy"]["mean"] == numbers["ceiling_accuracy"] == 1
    assert numbers["prior_accuracy"] == pytest.approx(1 / 3)  # no two animals say the same
    assert run(study, tmp_path, settings, tmp_path / "out") == results
    with pytest.raises(ForeignDirectoryError, match="protocol corrected, now paper"):
        run(study, tmp_path, ItemSettings(settings.model, protocol="paper"), tmp_path / "out")
    (table,) = compare_items(results, results)
    assert table.rows[0][0] == "animals, average, all"
    assert [cell.here for cell in table.rows[0][1]][-4:] == ["100.0", "100.0", "[0.0, 0.0]", "1"]


def test_a_task_that_fails_leaves_the_tables_of_the_others(tmp_path):
    (tmp_path / "corpus.txt").write_text("the cow says moo .\nthe dog says bark .\nthe saw goes .\n" * 2)
    animals = make_items("animals", ["cow", "dog"], ["moo", "bark"], ["the [X] says [Y] ."])
    tools = make_items("tools", ["saw", "drill"], ["rasp", "whirr"], ["the [X] goes [Y] ."])
    settings, out = ItemSettings(f"ngram:{tmp_path / 'corpus.txt'}"), tmp_path / "out"
    with pytest.raises(ValueError, match="tools"):
        run(item_study("sounds", animals, tools), tmp_path, settings, out)
    assert "animals" in (out / "summary.md").read_text()
    assert (out / "animals.png").is_file()
    with pytest.raises(ValueError, match="tools"):
        run(item_study("sounds", tools), tmp_path, settings, tmp_path / "none")
    assert not list((tmp_path / "none").iterdir())


def test_options_that_move_numbers_are_part_of_the_settings(table, model, tmp_path):
    study = STUDIES["ask"]
    settings = study.settings(model, template=("the [X] is [Y] .",))
    out = tmp_path / "out"
    run(study, table, settings, out, ScorerOptions(tokens=7, cache=tmp_path / "cache"))
    assert "tokens" not in json.loads((out / "summary.json").read_text())["settings"]
    run(study, table, settings, out, ScorerOptions(tokens=9))
    with pytest.raises(ForeignDirectoryError, match="policy null, now first"):
        run(study, table, settings, out, ScorerOptions(policy="first"))
