"""The shape of the package: imports run one way and in no circle, and nothing is renamed to import it."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import simtown

ROOT = Path(simtown.__file__).parent
#: A package may import those in the rows above its own. Packages in one row do not import each other.
LAYERS = (
    ("kernels",),
    ("core",),
    ("assets",),
    ("scenes",),
    ("language", "render"),
    ("datasets",),
    ("complexity", "town", "visualgenome"),
    ("training",),
    ("gym", "probes", "bench", "page"),
    ("vlm",),
    ("cli",),
)
LAYER = {package: row for row, packages in enumerate(LAYERS) for package in packages}
#: {module: modules of simtown that its functions import}, by last names, which are unique. Commands import
#: what they run, so `simtown.cli` is not listed. Delete what is gone; add nothing that can be imported early.
LATE = {
    "engines": "opengl",
    "finetune": "huggingface",
    "finished_runs": "resolved_settings settings",
    "fit_settings": "compiling",
    "models": "encoder",
    "need_report": "learning_figure needs_figure",
    "needs": "need_plot",
    "nouns": "solids",
    "opening": "causal corpus huggingface lstm masked ngram oracle served wordvectors",
    "own": "own_mesh",
    "paint": "atlas",
    "plan": "question_files size_search source",
    "relations": "exact",
    "render": "card",
    "renderers": "card",
    "session": "export_scene hand_made",
    "settings": "streams",
    "source": "family_questions paper_questions sequence_questions",
    "spatial_study": "train",
    "study_settings": "scorers",
    "sweep": "fit models",
    "thresholds": "ask",
    "town": "as_example",
    "visual_study": "soft_prompts",
}
#: Libraries that functions import, since they take long to import or may be absent.
LIBRARIES = (
    "IPython PIL cuda cv2 fsspec h5py huggingface_hub lemminflect matplotlib numpy pybullet pyrender ray "
    "scipy sklearn spellchecker textblob threadpoolctl torch transformers trimesh"
)
#: Modules that import a module by a string.
BY_STRING = "export models own program program_models renderers simtown"


@cache
def modules():
    """{name: syntax tree} of every module; a package goes by its own name."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = (ROOT.name, *path.relative_to(ROOT).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def runtime_nodes(tree):
    """The nodes of a syntax tree except those under `if TYPE_CHECKING:`."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from runtime_nodes(node)


@cache
def imports(nodes_of=ast.walk):
    """(importing module, imported module, line) of every import of simtown's own among nodes_of(tree)."""
    found = []
    for name, tree in modules().items():
        for node in nodes_of(tree):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name}, line {node.lineno}: imports are absolute"
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    found.append((name, whole if whole in modules() else node.module, node.lineno))
            elif isinstance(node, ast.Import):
                found += [(name, alias.name, node.lineno) for alias in node.names]
    return [entry for entry in found if entry[1].partition(".")[0] == ROOT.name]


def late_imports():
    """(importing module, imported module) of every import in a function."""
    for name, tree in modules().items():
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    yield from ((name, alias.name) for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    whole = (f"{node.module}.{alias.name}" for alias in node.names)
                    yield from ((name, module if module in modules() else node.module) for module in whole)


def last(module):
    return module.rpartition(".")[2]


def package_of(module):
    return module.split(".")[1] if "." in module else ""


def test_every_package_has_a_layer_and_no_import_runs_upward():
    assert {package_of(name) for name in modules()} <= {*LAYER, "", "__main__"}
    upward = [
        f"{importer}, line {line}: {imported}"
        for importer, imported, line in imports()
        if (package := package_of(importer)) in LAYER
        and package != package_of(imported)
        and LAYER.get(package_of(imported), len(LAYERS)) >= LAYER[package]
    ]
    assert upward == [], f"a package imports those in the rows above its own: {LAYERS}"


def test_no_modules_import_each_other():
    """Neither when they are imported nor when their functions are called."""
    graph = defaultdict(list)
    for importer, imported, _ in imports(runtime_nodes):
        if importer != imported and importer != ROOT.name:  # the root names the verbs, and imports them late
            graph[importer].append(imported)
    TopologicalSorter(graph).prepare()  # CycleError: a circle, with its modules


def test_modules_and_public_classes_have_names_of_their_own():
    names = Counter(path.name for path in ROOT.rglob("*.py") if not path.name.startswith("__"))
    assert [name for name, count in names.items() if count > 1] == []
    classes = (node for tree in modules().values() for node in tree.body if isinstance(node, ast.ClassDef))
    names = Counter(node.name for node in classes)
    assert [name for name, count in names.items() if count > 1 and not name.startswith("_")] == []


def test_nothing_of_simtown_is_imported_under_another_name():
    renamed = [
        f"{name}, line {node.lineno}: {alias.name} as {alias.asname}"
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        or (isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == ROOT.name)
        for alias in node.names
        if alias.name.partition(".")[0] == ROOT.name or isinstance(node, ast.ImportFrom)
        if alias.asname not in (None, alias.name)
    ]
    assert renamed == []


def test_functions_import_nothing_but_what_is_listed():
    libraries, late = set(), defaultdict(set)
    for importer, imported in late_imports():
        library = imported.partition(".")[0]
        if library != ROOT.name:
            libraries |= {library} - sys.stdlib_module_names
        elif package_of(importer) != "cli":
            late[last(importer)].add(last(imported))
    assert late == {name: {*imported.split()} for name, imported in LATE.items()}
    assert libraries <= {*LIBRARIES.split()}


def test_modules_are_imported_by_a_string_only_where_listed():
    calls = {
        last(name)
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and last(ast.unparse(node.func)) in ("import_module", "__import__")
    }
    assert calls == {*BY_STRING.split()}


#: What makes data draws from :mod:`simtown.core.streams` alone, so that an example depends on its address.
MAKERS = ("assets", "datasets", "gym", "kernels", "language", "render", "scenes", "town")
#: What only measures data, and what cuts pictures for a learner, by PyTorch's random numbers.
OTHERS = ("simtown.datasets.audit", "simtown.datasets.reading.torch_view")
CHANCE = re.compile(r"(np|numpy)\.random|random(\.|$)|uuid|os\.urandom|torch\.rand")


def test_nothing_random_but_streams_makes_data():
    """Neither the `random` of Python nor that of NumPy, PyTorch or the system."""
    found = []
    for name, tree in modules().items():
        if package_of(name) not in MAKERS or name.startswith(OTHERS):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                named = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                named = [ast.unparse(node)] if isinstance(node, ast.Attribute) else []
            found += [(name, word) for word in named if CHANCE.match(word)]
    assert found == []


@pytest.mark.parametrize(("yours", "kept"), [(None, "passive"), ("active", "active")])
def test_threads_wait_passively_unless_you_say_otherwise(yours, kept):
    """Measured in docs/performance.md: a busy loop doubles the time of training beside other work."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    environment |= {"OMP_WAIT_POLICY": yours} if yours else {}
    code = "import os, simtown.training; print(os.environ['OMP_WAIT_POLICY'])"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == [kept]
