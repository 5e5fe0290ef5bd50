"""What tests plant in folders: an object that leaves a mark, and a preset that names a model."""

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
