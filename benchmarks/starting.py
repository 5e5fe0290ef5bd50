"""CPU seconds from the word to the result, of commands that do little: a first run, and the median of others.

python benchmarks/starting.py       writes benchmarks/results/starting.csv
"""

import os
import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory

from machine import RESULTS, Rows, machine, options

TOWN = "from simtown.town import Town; Town.random(seed=3).render((128, 128))"
DATA = "generate --entities 15 --n 8 --val 0 --test 4 --size 128 --workers 1 --out d{turn}"
WORDS = (DATA, "--help", "info d0", "verify d0", "render d0/train:0 --out r{turn}.png")
TYPOS = ("gnerate", "generate --entitis 3", "fit nothere", "sweep --preset big", "audit nothere")
TYPOS += ("fit d0 --option hiden=3", "render d0/train:999", "clip --out x.mp5", "render --vehicles taxy")
COMMANDS = [["-m", "simtown", *words.split()] for words in (*WORDS, "preview d0 --out p{turn}.png", *TYPOS)]

if __name__ == "__main__":
    turns, rows = options(__doc__, turns=5).turns, Rows(RESULTS / "starting.csv", machine())
    with TemporaryDirectory() as folder:
        os.environ["SIMTOWN_CACHE"] = folder  # so that the first command builds the meshes
        for command in [*COMMANDS, ["-c", TOWN]]:
            times = []
            for turn in range(turns + 1):
                words, before = [word.format(turn=turn) for word in command], getrusage(RUSAGE_CHILDREN)
                subprocess.run([sys.executable, *words], cwd=folder, capture_output=True)
                used = getrusage(RUSAGE_CHILDREN)
                times.append(round(used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime, 2))
            rows.add({"command": " ".join(command[1:]), "first": times[0], "median": median(times[1:])})
