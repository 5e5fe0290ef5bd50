"""Is a data set free of shortcuts, repetitions and leaks?

:func:`simtown.datasets.audit.run.audit` answers.
"""
