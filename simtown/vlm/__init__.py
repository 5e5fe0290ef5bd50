"""Any vision-language model on the town's questions.

``simtown evaluate MODEL DATA`` opens a model (:mod:`simtown.vlm.models`), asks it every question of a split
under every condition (:mod:`simtown.vlm.conditions`) and writes a directory of results
(:mod:`simtown.vlm.vlm_run`).
"""
