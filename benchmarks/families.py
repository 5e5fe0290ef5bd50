"""What a model scores on each family of questions without the picture, without the question, and with both.

    python benchmarks/families.py [--questions all] [--n 6000] [--test 2000] [--size 64] [--entities 60]
        [--steps 600] [--seed 0] [--device cpu] [--data FOLDER] [--out FILE]

Makes a data set, in the folder --data if it is given (where it stays), trains `question-only`,
`picture-only` and `cnn-lstm` on it for so many steps of 128 examples, and tests the best weights of each. A
row a family, and one for all:

constant    the best single answer to the family's questions, chosen with the test set's answers in view
low, high   95 % Wilson interval of the column before
oracle      the stored program evaluated on the stored scene

`question-only` should not beat the constant: then the words give no hint. `picture-only` is told the family;
where a question has no words of its own ("What is the weather?") a picture suffices. How far `cnn-lstm` gets
hangs on --n and --steps; the defaults take about ten minutes on two cores. Writes
benchmarks/results/families.csv.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from machine import RESULTS, Rows, machine, options

from simtown.core.callbacks import FitCallback
from simtown.datasets.generate import generate
from simtown.datasets.reader import Dataset, open_dataset
from simtown.datasets.settings import Settings
from simtown.training.family_scores import oracle
from simtown.training.fit import fit
from simtown.training.fit_settings import FitSettings, precision_of
from simtown.training.models import options as options_of

MODELS = ("question-only", "picture-only", "cnn-lstm")


def tested(model: str, dataset: Dataset, args: Any, folder: Path) -> dict[str, Any]:
    """What run.json says of a model's test."""
    settings = FitSettings(
        model,
        seed=args.seed,
        options=options_of(model, {}),
        max_steps=args.steps,
        device=args.device,
        precision=precision_of("auto", args.device),
    )
    run = fit(settings, dataset, folder / model, FitCallback())
    print(f"{model}: {run}", flush=True)
    return dict(run["test"])


def main() -> None:
    numbers = {"n": 6000, "test": 2000, "size": 64, "entities": 60, "steps": 600, "seed": 0}
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
    settings.check()
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(args.data or Path(temporary, "data"))
        generate(settings, place)
        dataset = open_dataset(place)
        tests = {model: tested(model, dataset, args, Path(temporary)) for model in MODELS}
        derived, family = oracle(dataset), dataset.test.column("family")
    made = f"{args.n} examples, {args.entities} entities, {args.size}x{args.size}, {args.steps} steps"
    rows = Rows(args.out, f"{made}, seed {args.seed}; {machine('numpy', 'torch')}")
    first = tests[MODELS[0]]
    for number, name in enumerate([*dataset.names["families"], "all"]):
        if name != "all" and name not in first["families"]:
            continue  # the test set has no question of it
        shares = {model: test["families"].get(name, test) for model, test in tests.items()}
        constant = shares[MODELS[0]]["chance"]
        row = {"family": name, "answer": shares[MODELS[0]].get("answer", ""), "n": shares[MODELS[0]]["n"]}
        row["constant"] = round(constant, 3)
        for model, share in shares.items():
            row |= {model: round(share["accuracy"], 3)}
            row |= {f"{model} {end}": round(share[end], 3) for end in ("low", "high")}
        own = derived if name == "all" else derived[family == number]
        rows.add(row | {"oracle": round(float(own.mean()), 3)})


if __name__ == "__main__":
    main()
