"""What models score on each family of questions, with the rules of fairness and without them.

    python benchmarks/families.py [--questions all] [--n 20000] [--test 4000] [--size 64] [--entities 15]
        [--steps 4000] [--seed 0] [--device cpu] [--data FOLDER] [--out FILE]

Makes two data sets, in the folder --data if it is given (where they stay). "fair" is what simtown generate
makes: of each question the answer is drawn before the street. "as it falls" has the same templates, but
streets are drawn at random, and whatever answer is true there stays, as most generators do it. Trains
`question-only`, `picture-only` and `cnn-lstm` on each for so many steps of 128 examples, and tests the best
weights of each. A row a family and data set, and one for all:

constant    the best single answer to the family's questions, chosen with the test set's answers in view
low, high   95 % Wilson interval of the column before
oracle      the stored program evaluated on the stored scene
pairs       of the fair cnn-lstm: both pictures of a pair of twins right, in a third data set, which is only
            tested on

`question-only` beats the constant where the words give a hint. `picture-only` is told the family; where a
question has no words of its own ("What is the weather?") a picture suffices. How far `cnn-lstm` gets hangs on
--n and --steps; the defaults take half an hour on two cores. Writes benchmarks/results/families.csv.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from machine import RESULTS, Rows, machine, options

from simtown.core.callbacks import FitCallback
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import Dataset, open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.source import check_settings
from simtown.language.asking.question_world import MOST_COUNT
from simtown.language.asking.search import search
from simtown.language.meaning.evaluate import KNOWN
from simtown.language.meaning.programs import Form
from simtown.training import ask
from simtown.training.fit import fit
from simtown.training.fit_settings import FitSettings, precision_of
from simtown.training.models import options as options_of
from simtown.training.run_scores import FamilyScores

MODELS = ("question-only", "picture-only", "cnn-lstm")
ANY_STREET = Form("query", ("lane", Form("the", (Form("most", ("leftmost", Form("all", ("vehicle",)))),))))


@contextmanager
def as_it_falls() -> Iterator[None]:
    """Within it, the sampler draws streets that nothing is planted in, and keeps whatever answer is true."""
    ask, fill = search.search, search.fill_street

    def accepted(rows: Any, scenes: Any, values: Any) -> np.ndarray:
        named = [int(answer) in row.answers for row, answer in zip(rows, values.answer, strict=True)]
        return (values.state == KNOWN) & ~values.idle & np.array(named, dtype=bool)

    def filled(world: Any, form: Form, answer: int, draws: Any, limits: None) -> Any:
        *_, weather, things = fill(world, form, answer, draws) or (-1, None)
        vehicles, paint, *_ = fill(world, ANY_STREET, 0, draws)
        return vehicles, paint, weather, things and (things[0], draws.below(MOST_COUNT + 1))

    def searched(*args: Any) -> search.Questions:
        batch = ask(*args)
        return replace(batch, answer=batch.values.answer.copy())

    changed = {"_accepted": accepted, "fill_street": filled, "search": searched, "WORDS": 2_000}
    with patch.multiple(search, **changed):
        yield


def tested(model: str, dataset: Dataset, args: Any, folder: Path) -> tuple[Path, dict[str, Any]]:
    """A run, and what its run.json says of its test."""
    settings = FitSettings(
        model,
        seed=args.seed,
        options=options_of(model, {}),
        max_steps=args.steps,
        device=args.device,
        precision=precision_of("auto", args.device),
    )
    run = fit(settings, dataset, folder / model, FitCallback())
    print(f"{dataset.path.name}, {model}: {run}", flush=True)
    return folder / model, dict(run["test"])


def main() -> None:
    numbers = {"n": 20_000, "test": 4_000, "size": 64, "entities": 15, "steps": 4_000, "seed": 0}
    args = options(__doc__, questions=["all"], **numbers, device="cpu", data="", out=RESULTS / "families.csv")
    settings = Settings(
        entities=args.entities,
        n=args.n,
        val=min(1000, args.n),
        test=args.test,
        width=args.size,
        height=args.size,
        seed=args.seed,
        questions=tuple(args.questions),
    )
    check_settings(settings)
    made = f"{args.n} examples, {args.entities} entities, {args.size}x{args.size}, {args.steps} steps"
    rows = Rows(args.out, f"{made}, seed {args.seed}; {machine('numpy', 'torch')}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(args.data or temporary)
        twins = replace(settings, twins=True, n=1_000, val=0)
        generate(twins, folder / "twins")
        for rules, within in (("fair", nullcontext()), ("as it falls", as_it_falls())):
            place = folder / rules.replace(" ", "-")
            with within:
                generate(settings, place, workers=1)
            dataset, runs = open_dataset(place), folder / f"{place.name}-runs"
            found = {model: tested(model, dataset, args, runs) for model in MODELS}
            tests = {model: test for model, (_, test) in found.items()}
            pairs: Any = None
            if rules == "fair":
                run, device = found["cnn-lstm"][0], torch.device(args.device)
                pairs = ask.evaluate(run, folder / "twins", device)["twins"]["pair"]
            _write(rows, rules, dataset, tests, pairs)


def _write(
    rows: Rows, rules: str, dataset: Dataset, tests: dict[str, dict[str, Any]], pairs: dict[str, Any] | None
) -> None:
    """A row for each family, and one for all."""
    derived, family, first = FamilyScores(dataset).oracle(), dataset.test.column("family"), tests[MODELS[0]]
    for number, name in enumerate([*dataset.names["families"], "all"]):
        if name != "all" and name not in first["families"]:
            continue  # the test set has no question of it
        shares = {model: test["families"].get(name, test) for model, test in tests.items()}
        row = {"rules": rules, "family": name, "answer": shares[MODELS[0]].get("answer", "")}
        row |= {"n": shares[MODELS[0]]["n"], "constant": round(shares[MODELS[0]]["chance"], 3)}
        for model, share in shares.items():
            row |= {model: round(share["accuracy"], 3)}
            row |= {f"{model} {end}": round(share[end], 3) for end in ("low", "high")}
        own = derived if name == "all" else derived[family == number]
        row["oracle"] = round(float(own.mean()), 3)
        rows.add(row | {"pairs": round(pairs["accuracy"], 3) if pairs and name == "all" else ""})


if __name__ == "__main__":
    main()
