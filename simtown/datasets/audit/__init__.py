"""Is a data set free of shortcuts, copies and leaks? :func:`simtown.datasets.audit.run.audit` answers."""
