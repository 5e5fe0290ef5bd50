"""What learns: models, runs, and sweeps of runs.

:class:`simtown.training.fit_settings.FitSettings` and :func:`simtown.training.fit.fit` make a run with a
model of :data:`simtown.training.models.MODELS`. :func:`simtown.training.plan.read` reads
a grid and :class:`simtown.training.sweep.Sweep` runs it. :mod:`simtown.training.ask` asks a finished run.
"""
