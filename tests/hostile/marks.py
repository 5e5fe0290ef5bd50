"""What tests plant in folders: an object that leaves a mark, a preset with a model, damaged documents."""

import json
import re
from functools import reduce
from operator import getitem

#: Words of Python and NumPy for a value of another type or size, which no message may show.
IN_PYTHON = re.compile(
    r"\w+Error\b|(Expected|got) `|\$\.|line 1 column|malformed:|allow_pickle|object (is|has|does)"
    r"|indices must|argument|__|index.* out of|literal|operand|broadcast|reshape|axis \d|sequence|array\("
    r"|buffer is|unpack|<class|dtype|ufunc|string to float|not supported"
)

PRESET = """
version = 1
size = "32"
[[grid]]
entities = [3]
distractor = [false]
models = ["question-only"]
train_sizes = [20]
seeds = [0]
"""


class Marking:
    """Leaves a file if it is unpickled."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return open, (self.mark, "w")


def damages(document):
    """Copies of a JSON document, in each of which one value at any depth is another or gone."""
    ways = [()]
    for way in ways:
        value = reduce(getitem, way, document)
        keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        ways += [(*way, key) for key in keys]
    for *above, last in ways[1:]:
        for other in (None, -1, 9, 1e9, "x", [], {}, [1], ...):
            copy = json.loads(json.dumps(document))
            inner = reduce(getitem, above, copy)
            inner[last] = other
            if other is ...:
                del inner[last]
            yield copy
