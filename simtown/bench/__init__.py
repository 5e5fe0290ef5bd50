"""Measurements that users make on their own machines with `simtown bench`.

:func:`simtown.bench.render.measure` times every renderer of :mod:`simtown.bench.engines`.
"""
