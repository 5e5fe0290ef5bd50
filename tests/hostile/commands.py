"""Every command that reads a folder or a file, with the items it is given; those left out say why."""

from __future__ import annotations

import contextlib
import functools
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

#: Commands that read nothing that a stranger could have made, or that do not end.
LEFT_OUT = {
    "clip": "films a street from numbers on the command line; reads nothing",
    "bench render": "measures this machine; reads nothing",
    "probe spatial judge": "serves a page until Ctrl-C; what it reads first, probe spatial judgements reads "
    "too",
}
_ITEM = re.compile(r"\{([\w.-]+)\}")


@dataclass(frozen=True)
class Command:
    """A command line.

    Attributes:
        words: after "simtown". {ITEM} is the name of an item that lies in the working directory; {out} a
            directory for what is written.
        weight: how often it is drawn, beside the others: what takes long is drawn less often.
        writes: names in the working directory that it may write, or folders that it may write in.
        process: it starts processes, so it needs one of its own.
        further: items that a file names which it reads.
    """

    words: tuple[str, ...]
    weight: int = 4
    writes: tuple[str, ...] = ()
    process: bool = False
    further: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The name of the command itself: "probe visual mine"."""
        known = [" ".join(self.words[:n]) for n in (3, 2, 1)]
        return next(name for name in known if name in paths())

    @property
    def items(self) -> tuple[str, ...]:
        """The items that it reads, each once."""
        named = [name for word in self.words for name in _ITEM.findall(word) if name != "out"]
        return tuple(dict.fromkeys([*named, *self.further]))


def filled(words: Sequence[str], place: Callable[[str], str]) -> list[str]:
    """The words with every {NAME} replaced by its place."""
    return [_ITEM.sub(lambda match: place(match[1]), word) for word in words]


@functools.cache
def paths() -> list[str]:
    """The names of all commands, and of groups that are commands themselves."""
    import typer

    from simtown.cli.commands import app

    def walk(command: object, name: str) -> Iterator[str]:
        inner = getattr(command, "commands", {})
        if name and (not inner or getattr(command, "invoke_without_command", False)):
            yield name
        for key, below in inner.items():
            yield from walk(below, f"{name} {key}".strip())

    return list(walk(typer.main.get_command(app), ""))


def call(words: Sequence[str]) -> tuple[int, str, str]:
    """Run a command in this process: exit code, stdout, stderr."""
    from simtown.cli import main

    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["simtown", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as end:
                return int(end.code or 0), out.getvalue(), err.getvalue()
    finally:
        sys.argv = before
    raise AssertionError("main returned")


def _command(
    line: str,
    weight: int = 4,
    writes: tuple[str, ...] = (),
    process: bool = False,
    further: tuple[str, ...] = (),
) -> Command:
    return Command(tuple(line.split()), weight, writes, process, further)


TOWN = "--entities 3 --n 8 --val 20 --test 4 --size 32 --workers 1"
_SMALL = "--protocol paper --batch 4 --max-steps 4 --device cpu"
_STUDY = "--rare 1 --least 2 --most 4"

#: What the quick test runs too: needs no extra and no worker.
DATA = (
    _command("info {town}"),
    _command("info {rich}"),
    _command("info {old}"),
    _command("info {town}/train:1"),
    _command("info {rich}/test:0"),
    _command("verify {town}"),
    _command("verify {rich} --quick"),
    _command("verify {old}"),
    _command("preview {town} --out {out}/sheet.png"),
    _command("preview {rich} --large --n 2 --out {out}/sheet.png"),
    _command("preview {old}", writes=("old-preview.png",)),
    _command("render {town}/train:1 --size 64 --out {out}/a.png"),
    _command(
        "render {rich}/train-00000.h5:1 --size 64 --depth --masks --glb {out}/a.glb --json {out}/a.json "
        "--out {out}/a.png"
    ),
    _command("captions {rich} --out {out}/captions.txt"),
    _command("export {rich} --to coco --out {out}/coco"),
    _command("export {town} --to clevr", writes=("town-clevr",)),
    _command("export {town} --to webdataset --out {out}/web"),
    _command("export {town} --to yolo --out {out}/yolo"),
    _command("export {old} --to png --split train --out {out}/png"),
    _command("gallery {rich} --out {out}/gallery"),
    _command("gallery {town}", writes=("town-gallery",)),
    _command(f"generate {TOWN} --out {{town}}", writes=("town",)),
    _command(f"generate {TOWN} --frequencies {{frequencies.csv}} --out {{out}}/made"),
    _command(f"generate {TOWN} --paint {{paint.csv}} --out {{out}}/made"),
)
#: What needs extras.
MORE = (
    _command("info {rich} --plot", 1, writes=("rich-marginals.png",)),
    _command("audit {town} --json {out}/audit.json", 2),
    _command("export {rich} --to parquet --out {out}/parquet"),
    _command(f"fit {{town}} --model question-only {_SMALL} --out {{out}}/run", 2),
    _command(f"fit {{town}} --model question-only {_SMALL} --seed 0 "
f"--out {{stopped}}", 2, writes=("stopped",)),
    _command("evaluate {run} {town} --device cpu --json {out}/told.json"),
    _command("evaluate {words} {town} --device cpu"),
    _command("predict {run} {street.png} Is_a_sedan_left_of_a_fire_truck? --out {out}/found.png"),
    _command("predict {run} {street.jpg} Is_a_sedan_left_of_a_fire_truck?"),
    _command("sweep --preset {preset.toml} --device cpu --plan"),
    _command("sweep --preset {preset.toml} --device cpu --plan --adaptive 0.9 --out {sweep}"),
    _command("sweep --preset {preset.toml} --device cpu --plan --out {sweep} --resume-from {cells}"),
    _command("sweep --preset {preset.toml} --device cpu --jobs 1 --out {sweep} "
"--resume-from {cells}", 0, ("sweep", "cells"), True),
    _command("complexity {sweep} --replicates 40 --out {out}/complexity", 1),
    _command("complexity {cells} --replicates 40", 1, writes=("cells",)),
    _command("complexity {results.csv} --replicates 40 --out {out}/complexity", 1),
    _command("vg prepare {relationships.json} --threshold 1 --out {out}/vg"),
    _command("vg prepare {relationships.json.zip} --threshold 1 --out {out}/vg"),
    _command("vg prepare {relationships.json} --steps be,determiners --threshold 1 "
"--out {prepared}", writes=("prepared",)),
    _command("vg prepare {relationships.json.gz} --skip-bad --with {attributes.json} --threshold "
"1 --out {out}/vg"),
    _command("vg stats {prepared}"),
    _command("vg sparsity {objects.json} --top 5 --out {out}/sparsity.png", 1),
    _command("vg sparsity {prepared} --top 5 --out {out}/sparsity.png", 1),
    _command("vg frequencies {prepared} --top 5 --out {out}/frequencies.csv"),
    _command("lm train {corpus.gz} --epochs 1 --device cpu --out {out}/lm", 1),
    _command("lm train {region_descriptions.json} --tokenizer {lstm} --epochs 1 --device "
"cpu --out {out}/lm", 1),
    _command("lm train {corpus.txt} --epochs 1 --vocabulary 200 --batch 16 --lr 0.003 --device "
"cpu --out {lstm}", 1, writes=("lstm",)),
    _command("probe physical --data {physical} --model majority --task OP --out {out}/study", 2),
    _command("probe physical --data {physical} --model glove:{glove.txt} --head logistic --task OA "
"--out {out}/study", 2),
    _command("probe physical --data {physical} --model hf:{gpt2} --head logistic --task OP "
"--out {out}/study", 1),
    _command("probe physical --data {physical} --model majority --out "
"{study-physical}", writes=("study-physical",)),
    _command("probe visual --data {visual} --model glove:{glove.gz} --task shape --out {out}/study", 2),
    _command("probe visual --data {visual} --model hf:{bert} --task color --out {out}/study", 1),
    _command("probe visual --data {visual} --model clip:{clip} --task material --out {out}/study", 1),
    _command("probe visual --data {visual} --model sentence:{sentence} --as head --task shape "
"--out {out}/study", 1),
    _command("probe visual --data {mined} --model hf:{bert} --task color --out {out}/study", 2),
    _command("probe visual --data {visual} --model glove:{glove.txt} --task color "
"--out {study-visual}", writes=("study-visual",)),
    _command("probe visual mine --attributes {attributes.json} --graphs {scene_graphs.json} "
"--threshold 0 --out {out}/mined"),
    _command("probe visual mine --text {corpus.txt} --subjects {mined} --out {out}/mined"),
    _command("probe visual distill {corpus.txt} --teacher hf:{bert} --student hf:{bert} "
"--out {out}/student", 1),
    _command("probe visual figure 8 --data {visual} --out {out}/figure.png", 1),
    _command("probe visual bridge {rich} --out {out}/bridge --bias 0 --epochs 1", 1),
    _command(f"probe spatial --model lstm:{{lstm}} --corpus {{corpus.txt}} {_STUDY} --out {{out}}/study", 1),
    _command(f"probe spatial --model ngram:{{corpus.gz}} --corpus {{corpus.gz}} {_STUDY} "
f"--out {{out}}/study", 1),
    _command(f"probe spatial --model ngram:{{corpus.txt}} --corpus {{corpus.txt}} {_STUDY} --out "
f"{{study-spatial}}", 1, ("study-spatial",)),
    _command("probe spatial judgements {judgements.csv} --out {out}/means.tsv"),
    _command("probe spatial town {rich} --model ngram:{captions.txt} --out {out}/town.png", 1),
    _command("probe ask {items.csv} --model ngram:{corpus.txt} --out {out}/asked", 2),
    _command("probe compare {study-physical} {study-physical}", 2),
    _command("probe compare {study-visual} {study-visual}", 2),
    _command("probe compare {study-spatial} {study-spatial}", 2),
    _command("probe reproduce forbes-table1 --data {physical}"),
    _command("probe reproduce forbes-table2 --data {physical} --with {study-physical}", 2),
    _command("probe reproduce vicomte-table2 --data {visual}", 2),
    _command("probe reproduce vicomte-table3 --data {visual} --with {study-visual}", 2),
    _command("probe reproduce spatial-figure3 --data {spatial} --with {study-spatial}", 2),
    _command("probe reproduce spatial-analogy --data {spatial} --with glove:{vectors}/v.npy", 2),
    _command("probe reproduce spatial-odd-one-out --data {spatial} --with oracle:{oracle.json}", 2),
    _command("probe reproduce spatial-analogy --data {clone}", 2),
    _command("probe grid {grid.toml} --plan --out {out}/grid"),
    _command("probe grid {grid.toml} --jobs 1 --out {out}/grid", 0, (), True, ("physical", "glove.txt")),
)  # fmt: skip
COMMANDS = DATA + MORE
