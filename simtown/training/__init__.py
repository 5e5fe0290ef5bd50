"""What learns: models, runs, sweeps of runs, and the sample complexity measured from them.

:class:`simtown.training.fit_settings.FitSettings` and :func:`simtown.training.fit.fit` make a run with a
model of :data:`simtown.training.models.MODELS`. :func:`simtown.training.plan.read` and
:func:`simtown.training.sweep.sweep` run a grid. :func:`simtown.training.report.report` estimates what it
says; :mod:`simtown.training.ask` asks a finished run.
"""
