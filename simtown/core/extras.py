"""Packages that not everybody needs come with an extra: which are missing, and how to install them."""

from importlib.util import find_spec

#: The modules of the core's packages.
CORE = "numpy h5py cramjam msgspec trimesh contourpy typer rich PIL"
#: The modules of each extra without which what it enables cannot work.
MODULES = {
    "train": "torch tensorboard safetensors scipy matplotlib",
    "vg": "pyarrow lemminflect spellchecker textblob matplotlib",
    "probes": "torch transformers sklearn scipy lemminflect pyarrow matplotlib",
    "audit": "sklearn scipy cv2",
    "vlm": "torch transformers scipy pyarrow requests matplotlib",
    "export": "pyarrow",
    "physics": "pybullet cv2",
    "opengl": "pyrender OpenGL cv2",
    "cuda": "cuda.core cuda.bindings",
    "cluster": "ray fsspec s3fs",
    "gym": "torch transformers datasets trl",
    "verifiers": "verifiers",
}
#: What each extra enables.
ENABLES = {
    "train": "fit, predict, evaluate RUN, sweep, complexity, bench",
    "vg": "vg, lm: Visual Genome, and language models of your own",
    "probes": "probe: what language models know",
    "audit": "audit: shortcuts and leaks in a data set",
    "vlm": "evaluate hf:MODEL, openai:URL; compare, thresholds",
    "export": "export --to parquet",
    "physics": "clip, Town.step: motion (films need no ffmpeg)",
    "opengl": "--renderer opengl",
    "cuda": "--device cuda: drawing on an NVIDIA card",
    "cluster": "--engine ray, data sets at s3://",
    "gym": "the gym in TRL",
    "verifiers": "the gym in verifiers",
}
#: Packages that have another name than their module.
_PACKAGES = {"sklearn": "scikit-learn", "spellchecker": "pyspellchecker", "OpenGL": "PyOpenGL"}
_PACKAGES |= {"cuda.core": "cuda-core", "cuda.bindings": "cuda-bindings"}
_PACKAGES |= {"cv2": "opencv-python-headless", "PIL": "pillow"}


class MissingExtraError(ImportError):
    """A package of an extra is not installed; the message says how to install it."""


def package_of(module: str) -> str:
    """The name of the package that a module comes with."""
    return _PACKAGES.get(module, module)


def missing(modules: str) -> list[str]:
    """The packages of those modules, with blanks between, that are not installed; nothing is imported."""

    def is_here(module: str) -> bool:
        outer = module.rpartition(".")[0]
        return (not outer or is_here(outer)) and find_spec(module) is not None

    return [package_of(module) for module in modules.split() if not is_here(module)]


def how_to_install(*extras: str) -> str:
    """The command that installs extras, for messages. pip needs the sources: simtown is on no index."""
    return f"pip install '.[{','.join(extras)}]' in a checkout of simtown"


def need(*extras: str, modules: str = "", what: str = "this command") -> None:
    """Check that extras are installed.

    Args:
        extras: their names.
        modules: those of their modules that are needed, with blanks between; by default all that their
            commands use.
        what: what needs them, for the message.

    Raises:
        MissingExtraError: a module is missing.
    """
    if absent := missing(modules or " ".join(MODULES[extra] for extra in extras)):
        raise MissingExtraError(f"{what} needs {', '.join(absent)}: {how_to_install(*extras)}")
