"""Training: models, runs, and sweeps of runs.

:class:`simtown.training.fit_settings.FitSettings` and :func:`simtown.fit` make a run with a
model of ``simtown.training.models.MODELS``. :func:`simtown.training.plan.read` reads
a grid and :class:`simtown.training.sweep.Sweep` runs it. :mod:`simtown.training.ask` asks a finished run.
"""

import os

# PyTorch's threads wait for each other in a busy loop, which takes twice the time beside other work.
# PyTorch reads this when it is first imported; a value of the user's stays.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
