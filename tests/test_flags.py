"""The package speaks of parameters, and the command line puts its flags in their place."""

import ast
import re
from pathlib import Path

import pytest

import simtown
from simtown.core.extras import MissingExtraError, need
from tools import messages

PACKAGE = Path(simtown.__file__).parent
FLAG = re.compile(r"(?<![\w-])--[a-z{]")
#: What comes before the flags of a command line that a message quotes; values stand in braces.
COMMANDS = ("simtown ", "ray start ", "command}")

#: The extra that a command needs, the command, and what its one line says.
REFUSED = [
    ("", ("generate", "--n", 4, "--workers", 0, "--out", "new"), ("--workers must be at least 1, not 0",)),
    ("", ("generate", "--n", 4, "--out", "mine"), ("another",)),
    ("", ("clip", "--out", "old.gif"), ("old.gif exists: another",)),
    ("", ("clip", "--out", "new.mp4", "--size", "33x32"), ("give another --size",)),
    ("", ("clip", "--out", "new.gif", "--fps", 60), ("give another --fps",)),
    ("", ("generate", "--n", 4, "--device", "cuda", "--out", "new"), ("--device cuda: ", "use --device cpu")),
    ("train", ("fit", "{plain}", "--option", "dropout=much"), ("--option dropout=much: 'much'",)),
    ("train", ("fit", "{plain}", "--lr", 0), ("--lr must be above 0",)),
    (
        "train",
        ("sweep", "--preset", "preset.toml", "--plan", "--device", "cpu"),
        ("allow it with --allow-model strange:Net",),
    ),
    ("vg", ("vg", "prepare", "text.txt", "--out", "new", "--with", "notes.json"), ("--with notes.json is",)),
    ("probes", ("lm", "train", "text.txt", "--out", "new", "--lr", 10), ("--lr must be above 0 and below",)),
    (
        "probes",
        ("lm", "train", "text.txt", "--out", "new", "--tokenizer", "none"),
        ("--tokenizer /", "holds no tokenizer"),
    ),
    (
        "probes",
        ("lm", "train", "text.txt", "--out", "new", "--rare", 9, "--device", "cpu"),
        ("rarer than --rare 9",),
    ),
    (
        "probes",
        ("probe", "physical", "--data", "nowhere", "--model", "random", "--out", "new"),
        ("as --data",),
    ),
    (
        "probes",
        ("probe", "physical", "--data", ".", "--model", "random", "--as", "words", "--out", "new"),
        ("it takes neither --as nor --tune",),
    ),
    (
        "probes",
        ("probe", "physical", "--data", ".", "--model", "hf:x", "--tune", "--as", "yes-no", "--out", "new"),
        ("--tune is for heads on fixed vectors, not for --as yes-no",),
    ),
    (
        "probes",
        ("probe", "visual", "--data", ".", "--model", "glove:x", "--task", "smell", "--out", "new"),
        ("--task smell",),
    ),
    (
        "probes",
        ("probe", "spatial", "--corpus", "text.txt", "--model", "ngram:x", "--least", 0, "--out", "new"),
        ("--least must be at least 1",),
    ),
    (
        "probes",
        ("probe", "ask", "items.csv", "--model", "glove:x", "--out", "new"),
        ("give --template, such as 'a [X] is [Y] .'",),
    ),
    ("probes", ("probe", "visual", "mine", "--out", "new"), ("--attributes, --graphs, --text or --coda",)),
    (
        "probes",
        ("probe", "visual", "mine", "--text", "text.txt", "--subjects", "nowhere", "--out", "new"),
        ("as --subjects",),
    ),
    (
        "probes",
        (
            *("probe", "visual", "distill", "text.txt", "--teacher", "hf:x", "--student", "hf:x"),
            *("--out", "new", "--epochs", 0),
        ),
        ("--epochs and --batch must be at least 1, --lr above 0",),
    ),
    (
        "probes",
        ("probe", "visual", "bridge", "{plain}", "--bias", "0,1", "--out", "new"),
        ("--bias lists probabilities",),
    ),
    (
        "probes",
        ("probe", "spatial", "judge", "--out", "/dev/null"),
        ("not a regular file: another",),
    ),
]


@pytest.mark.parametrize(
    ("extra", "words", "told"), REFUSED, ids=[" ".join(map(str, words)) for _, words, _ in REFUSED]
)
def test_a_refusal_names_the_flag_that_was_typed(
    extra, words, told, cli, plain, tmp_path, monkeypatch, no_card
):
    if extra:
        try:
            need(extra)
        except MissingExtraError as error:
            pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/thesis.tex").touch()
    Path("old.gif").touch()
    Path("notes.json").touch()
    Path("text.txt").write_text("a cat sits\na dog runs\n")
    Path("items.csv").write_text("subject,gold\nsnow,white\nrose,red\n")
    Path("preset.toml").write_text(
        'version = 1\nsize = 32\n[[grid]]\nentities = [3]\ndistractor = [false]\nmodels = ["strange:Net"]\n'
        "train_sizes = [8]\nseeds = [0]\n"
    )
    outcome = cli(*(str(word).format(plain=plain) for word in words))
    outcome.refuses(*told)
    assert "`" not in outcome.err
    assert not Path("new").exists()


def own_flags(source):
    """(line, text) of every message that writes a flag which is not part of a quoted command line."""
    for line, where, text in messages.messages(ast.parse(source)):
        found = FLAG.search(text)
        is_help = where == "about"
        if found and not is_help and not any(name in text[: found.start()] for name in COMMANDS):
            yield line, text


def test_the_package_speaks_of_parameters():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "cli"
        for line, text in own_flags(path.read_text(encoding="utf-8"))
    ]
    assert not found, "name the parameter, such as `out`; the command line makes a flag of it"


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ('raise ValueError(f"--{name} must be at least 1")', True),
        ('raise ValueError(f"{path} exists: " + "another")', True),
        ('noted("keeps them in memory; --no-cache reads them from disk")', True),
        ('raise ValueError("give another `out`")', False),
        ('raise ValueError(f"{path} has none (simtown generate --masks stores them)")', False),
        ('raise ValueError(f"run {command} again with another")', False),
    ],
)
def test_a_flag_in_a_message_is_found_unless_a_command_is_quoted(source, wrong):
    assert bool(list(own_flags(source))) == wrong
