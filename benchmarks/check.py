"""How often `simtown check` names a planted fault, and how often it names one where there is none.

A simulated model (simulated_sight.py) that guesses a share of what it sees gets the battery through a path
with each fault, and with pairs of them. All models of a fault see the same pictures; their guesses differ.

    python benchmarks/check.py --out benchmarks/results/check.csv
"""

from functools import cache
from pathlib import Path
from statistics import mean

from machine import Rows, machine, options
from simulated_sight import FAULTS, Eye, SimulatedModel, both

from simtown.vlm import check_battery, check_probes
from simtown.vlm.check_battery import ask_battery
from simtown.vlm.check_verdicts import CANNOT_TELL, NOT_DELIVERED

#: Shares of what is seen that are guessed nevertheless.
LAPSES = (0.02, 0.1, 0.3)
PAIRS = [("mirrored", "red and blue exchanged"), ("reverse order", "edges cropped"), ("JPEG", "made small")]
QUERIES = 300


def main() -> None:
    args = options(__doc__, repeats=200, out="check.csv")
    rows = Rows(Path(args.out), f"{args.repeats} batteries a row; {machine('numpy', 'scipy')}")
    check_battery.score_reply = cache(check_battery.score_reply)
    check_battery.add_interval = lambda verdict, rows: None
    for name, probe in check_probes.PROBES.items():  # all batteries ask the same: it is drawn once
        kept = {"test": cache(probe.test), "control": cache(probe.control)}
        check_probes.PROBES[name] = probe._replace(**kept)
    cases = {name: (fault.change, [fault.probe]) for name, fault in FAULTS.items()}
    cases |= {" + ".join(two): (both(*two), [FAULTS[own].probe for own in two]) for two in PAIRS}
    for name, (change, probes) in cases.items():
        seen = {}
        flips = 0.5 if name == "temperature 1" else 0.0
        for lapses in LAPSES:
            batteries = [
                ask_battery(SimulatedModel(Eye(change, lapses, seed=seed, flips=flips), seen), QUERIES)
                for seed in range(args.repeats)
            ]
            found = [
                {own.probe for own in battery.verdicts.values() if own.verdict == NOT_DELIVERED}
                for battery in batteries
            ]
            unsure = [
                sum(own.verdict == CANNOT_TELL for own in battery.verdicts.values()) for battery in batteries
            ]
            row = {
                "fault": name,
                "guessed": lapses,
                "named": mean({*probes} <= names for names in found) if probes != [""] else "",
                "nothing": mean(not names for names in found),
                "others": mean(bool(names - {*probes}) for names in found),
                "cannot_tell": mean(unsure),
                "questions": mean(len(battery.said) for battery in batteries),
            }
            rows.add(row)


if __name__ == "__main__":
    main()
