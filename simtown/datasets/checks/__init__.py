"""What `verify` looks at: the manifest, the form of a shard, its rows, and whether they are consistent.

:func:`simtown.datasets.checks.shard.check_shard` checks one shard.
"""
