"""In PYTHONPATH, this gives every process of a command an emulated card in place of a real one
(tests/test_gpu_sh.py).
"""

import importlib.abc
import importlib.machinery
import sys

CARD = "simtown.render.cuda.card"


class _Emulated(importlib.abc.MetaPathFinder):
    """Exchanges the card of the package when its module is imported."""

    def find_spec(self, name, path, target=None):
        if name != CARD:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            from tests.cuda.emulated_card import EmulatedCard

            module.CudaCard, module.check_card = EmulatedCard, lambda: None

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Emulated())
