"""The shape of the package: imports run one way and in no circle, and nothing is renamed to import it."""

import ast
import os
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


@pytest.mark.parametrize(("yours", "kept"), [(None, "passive"), ("active", "active")])
def test_threads_wait_passively_unless_you_say_otherwise(yours, kept):
    """Measured in docs/performance.md: a busy loop doubles the time of training beside other work."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    environment |= {"OMP_WAIT_POLICY": yours} if yours else {}
    code = "import os, simtown.training; print(os.environ['OMP_WAIT_POLICY'])"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == [kept]
