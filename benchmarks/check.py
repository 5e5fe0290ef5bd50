"""How often `simtown check` names a planted fault, and how often it names one where there is none.

A simulated model (simulated_sight.py) that guesses a share of what it sees gets the battery through a path
with each fault, and with pairs of them. All models of a fault see the same pictures; their guesses differ.
"named": the fault's own probe (of a pair both) says that it is not delivered; "told": it says that or that it
is delivered, so the model sees enough; "named_of_told": the share of these batteries that name the fault;
"others": a probe is named that the fault leaves alone. The model is asked in this process; some batteries of
a row are asked again through a server on the loopback, and "served_alike" counts those that give the same
verdicts.

    python benchmarks/check.py --out benchmarks/results/check.csv
"""

from functools import cache, partial
from pathlib import Path
from statistics import mean

from machine import Rows, machine, options
from simulated_sight import FAULTS, Eye, SimulatedModel, both, serving

from simtown.vlm import check_battery, check_probes, server_model
from simtown.vlm.check_battery import Battery, ask_battery
from simtown.vlm.check_verdicts import CANNOT_TELL, NOT_DELIVERED
from simtown.vlm.models import open_model
from simtown.vlm.vlm_settings import CheckSettings

#: Shares of what is seen that are guessed nevertheless.
LAPSES = (0.02, 0.1, 0.3)
PAIRS = [
    ("mirrored", "red and blue exchanged"),
    ("reverse order", "edges cropped"),
    ("JPEG", "made small"),
    ("system text dropped", "only the first picture"),
]
QUERIES = 300
#: The seed of the first battery: the rules were chosen on those of 0 to 199.
FIRST = 4000


def main() -> None:
    args = options(__doc__, repeats=200, served=1, faults="", out="check.csv")
    rows = Rows(Path(args.out), f"{args.repeats} batteries a row; {machine('numpy', 'scipy')}", "fault")
    draw_once()
    cases = {name: [name] for name in FAULTS} | {" + ".join(two): two for two in PAIRS}
    for name in args.faults.split(",") if args.faults else cases:
        faults, kept = [FAULTS[own] for own in cases[name]], {}
        change = faults[0].change if len(faults) == 1 else both(*cases[name])
        flips = 0.5 if name == "temperature 1" else 0.0
        for lapses in LAPSES:
            eyes = partial(Eye, change, lapses, flips=flips, kept=kept)
            served = 0 if flips else args.served  # answers differ each time
            rows.add({"fault": name, "guessed": lapses, **row_of(eyes, faults, args.repeats, served)})


def row_of(eyes, faults, repeats, served):
    """How often eyes of some seeds name the faults before them."""
    batteries = [
        ask_battery(SimulatedModel(eyes(seed=seed)), QUERIES) for seed in range(FIRST, FIRST + repeats)
    ]
    alike = sum(
        verdicts(battery) == asked_by_server(eyes(seed=seed))
        for seed, battery in enumerate(batteries[:served], FIRST)
    )
    every = [[*battery.verdicts.values()] for battery in batteries]
    found = [{own.probe for own in each if own.verdict == NOT_DELIVERED} for each in every]
    probes = {fault.probe for fault in faults} - {""}
    told = [all(battery.verdicts[name].verdict != CANNOT_TELL for name in probes) for battery in batteries]
    named = sum(probes <= names for names in found)
    allowed = probes.union(*(fault.also for fault in faults))
    return {
        "named": named / repeats if probes else "",
        "told": mean(told) if probes else "",
        "named_of_told": named / max(sum(told), 1) if probes else "",
        "nothing": mean(not names for names in found),
        "others": mean(bool(names - allowed) for names in found),
        "cannot_tell": mean(sum(own.verdict == CANNOT_TELL for own in each) for each in every),
        "questions": mean(len(battery.said) for battery in batteries),
        "served": served,
        "served_alike": alike,
    }


def draw_once() -> None:
    """Keep what all batteries draw, encode and read alike."""
    check_battery.score_reply = cache(check_battery.score_reply)
    check_battery.add_interval = lambda verdict, rows: None
    for name, probe in check_probes.PROBES.items():
        kept = {"test": cache(probe.test), "control": cache(probe.control)}
        check_probes.PROBES[name] = probe._replace(**kept)
    every_row = Battery.every_row
    Battery.every_row = lambda battery, name: rows_once(battery, name, every_row)
    encode, pngs = server_model.png_bytes, {}

    def encode_once(picture):
        if id(picture) not in pngs:
            pngs[id(picture)] = picture, encode(picture)
        return pngs[id(picture)][1]

    server_model.png_bytes = encode_once


def rows_once(battery, name, every_row):
    """The rows of a probe, counted again when something was asked."""
    kept = vars(battery).setdefault("kept", {})
    state = len(battery.said), len(battery.pairs.get(name, ()))
    if kept.get(name, [None])[0] != state:
        kept[name] = state, every_row(battery, name)
    return kept[name][1]


def asked_by_server(eye):
    """The verdicts of a model behind a server on the loopback."""
    with serving(eye) as name:
        return verdicts(ask_battery(open_model(name, CheckSettings().asking), QUERIES))


def verdicts(battery):
    return {name: (own.verdict, own.test) for name, own in battery.verdicts.items()}


if __name__ == "__main__":
    main()
