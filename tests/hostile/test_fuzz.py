"""No command runs code of a folder, writes or reads outside, or takes more memory or time than it may,
whatever the folder holds.

The slow test draws 2,000 cases, the same everywhere; SIMTOWN_HOSTILE_SEED=7 draws others,
SIMTOWN_HOSTILE_CASES=200 fewer. What it finds, it makes small and prints as a script that runs it again:
python -m tests.hostile 'SCRIPT'.
"""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from tests.hostile import commands, mutations
from tests.hostile.cases import Case, in_process
from tests.hostile.commands import COMMANDS, LEFT_OUT, Command
from tests.hostile.mutations import Mutation
from tests.hostile.seeds import Store

FORKED = tuple(command for command in COMMANDS if not command.process)
SEED = int(os.environ.get("SIMTOWN_HOSTILE_SEED", "0"))
CASES = int(os.environ.get("SIMTOWN_HOSTILE_CASES", "2000"))


def unread(path: Path) -> bool:
    """A file of a folder that is for people, or for another program."""
    return path.suffix in (".png", ".svg", ".tex", ".md", ".py", ".ipynb") or "tfevents" in path.name


def cases(command: Command, store: Store) -> st.SearchStrategy[Case]:
    """The command with one to four mutations of what it reads."""
    files = []
    for item in command.items:
        path = store.path(item)
        inside = (
            sorted(p for p in path.rglob("*") if p.is_file() and not unread(p)) if path.is_dir() else [path]
        )
        files += [str(p.relative_to(store.directory)) for p in inside]

    @st.composite
    def mutation(draw: st.DrawFn) -> Mutation:
        file = draw(st.sampled_from(files))
        kind = draw(st.sampled_from(mutations.kinds_for(file)))
        names = mutations.choices_for(kind)
        what = draw(st.sampled_from(names) if names else st.integers(0, 999))
        return Mutation(kind, file, draw(st.integers(0, 999)), what)

    return st.builds(Case, st.just(command), st.lists(mutation(), min_size=1, max_size=4).map(tuple))


#: One of each kind, as far as no extra is needed.
FIXED = (
    '["info {town}", ["value", "town/manifest.json", "settings.n", "2000000000"]]',
    '["info {town}", ["value", "town/manifest.json", "simtown", "\\"[/nope]\\\\u001b[31m\\""]]',
    '["info {town}", ["replace", "town/manifest.json", 0, "deep JSON"]]',
    '["info {town}", ["replace", "town/manifest.json", 0, "FIFO"]]',
    '["info {town}", ["replace", "town/manifest.json", 0, "link to /dev/zero"]]',
    '["info {town}", ["replace", "town/manifest.json", 0, "sparse"]]',
    '["info {rich}/test:0", ["shard", "rich/test-00000.h5", "answer", "every attribute"]]',
    '["info {rich}/test:0", ["shard", "rich/test-00000.h5", "scene/prop_pose", "as texts of any length"]]',
    '["verify {rich} --quick", ["shard", "rich/train-00000.h5", "margin", "with lzf and shuffle"]]',
    (
        '["preview {town} --out {out}/sheet.png", '
        '["shard", "town/train-00000.h5", "images", "external storage of the secret"]]'
    ),
    (
        '["preview {town} --out {out}/sheet.png", '
        '["shard", "town/train-00000.h5", "images", "a billion rows in one piece"]]'
    ),
    '["preview {town} --out {out}/sheet.png", ["temporary", "town/manifest.json", 1, 5]]',
    (
        '["render {town}/train:1 --size 64 --out {out}/a.png", '
        '["shard", "town/train-00000.h5", "scene/weather", "with one 255"]]'
    ),
    '["render {town}/train:1 --size 64 --out {out}/a.png", ["temporary", "town/manifest.json", 0, 12]]',
    (
        '["captions {rich} --out {out}/captions.txt", '
        '["shard", "rich/train-00001.h5", "scene/entity", "filled with 200"]]'
    ),
    (
        '["export {town} --to webdataset --out {out}/web", '
        '["shard", "town/train-00000.h5", "object", "as texts of any length"]]'
    ),
    '["export {rich} --to coco --out {out}/coco", ["shard", "rich/val-00000.h5", "images", "external link"]]',
    '["export {town} --to clevr", ["shard", "town/test-00000.h5", "images", "virtual data set"]]',
    '["export {town} --to clevr", ["temporary", "town/manifest.json", 13, 7]]',
    (
        '["export {town} --to webdataset --out {out}/web", '
        '["replace", "town/val-00000.h5", 0, "link to the secret"]]'
    ),
    '["gallery {town}", ["temporary", "town/manifest.json", 12, 0]]',
    '["gallery {town}", ["shard", "town/test-00000.h5", "subject", "with one 1e+30"]]',
    (
        '["gallery {rich} --out {out}/gallery", '
        '["shard", "rich/val-00000.h5", "question", "external storage of the secret"]]'
    ),
    '["gallery {rich} --out {out}/gallery", ["neighbour", "rich/train-00000.h5", 0, 12]]',
    (
        f'["generate {commands.TOWN} --paint {{paint.csv}} --out {{out}}/made", '
        '["replace", "paint.csv", 0, "long line"]]'
    ),
    f'["generate {commands.TOWN} --out {{town}}", ["neighbour", "town/manifest.json", 0, 2]]',
)


@pytest.mark.parametrize("script", FIXED)
def test_one_of_each_kind(light, script):
    verdict = light.run(Case.read(script))
    assert not verdict.offences, verdict.err


def _share(command: Command) -> int:
    """How many of the CASES are this command's: what is quick has more of them."""
    return -(-CASES * command.weight // sum(one.weight for one in FORKED))


@pytest.mark.slow
@pytest.mark.parametrize("command", FORKED, ids=lambda command: " ".join(command.words))
def test_fuzz(command, full, store):
    @hypothesis.seed(SEED * len(FORKED) + FORKED.index(command))
    @hypothesis.settings(
        max_examples=_share(command),
        derandomize=False,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(cases(command, store))
    def holds(case):
        verdict = full.run(case)
        assert not verdict.offences, "\n  ".join([case.script(), *verdict.offences])

    holds()


def test_every_command_is_in_the_table():
    """A new command is fuzzed, or it is said why not."""
    tried = {command.path for command in COMMANDS}
    assert not tried & set(LEFT_OUT)
    assert tried | set(LEFT_OUT) == set(commands.paths())


PROCESSES = {command.path: command for command in COMMANDS if not command.process}.values()


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [*PROCESSES, *(c for c in COMMANDS if c.process)], ids=lambda command: " ".join(command.words)
)
def test_planted_code_does_not_run(command, extras, store, tmp_path):
    """In processes of their own, and in their workers: modules and settings of libraries that lie in the
    folder are not used.
    """
    verdict = in_process(Case(command), store, tmp_path)
    assert not verdict.offences, verdict.err
    assert verdict.code == (command.words[0] == "verify"), verdict.err  # which names what does not belong
