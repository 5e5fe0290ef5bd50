"""What is installed where: markers, pins, hashes, the actions of CI, and the tool behind make resolve."""

import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

requirements = pytest.importorskip("packaging.requirements")
pytest.importorskip("uv")
from packaging.utils import canonicalize_name  # noqa: E402

import simtown  # noqa: E402
from simtown.town.motion import physics  # noqa: E402
from tools import resolve  # noqa: E402

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, BUILD = PYPROJECT["project"], PYPROJECT["build-system"]
EXTRAS = PROJECT["optional-dependencies"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13), (3, 14)])
def test_clip_sends_to_the_extra_where_the_extra_installs_something(version, system, machine, monkeypatch):
    """The marker of the extra and the words of the error are one rule."""
    bullet = requirements.Requirement(next(line for line in EXTRAS["physics"] if "pybullet" in line))
    python = ".".join(map(str, version))
    here = {"python_version": python, "sys_platform": system, "platform_machine": machine}
    monkeypatch.setattr(sys, "version_info", (*version, 0))
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    words = physics.how_to_install_pybullet()
    assert ("has no wheel" not in words) == bullet.marker.evaluate(here), words
    assert "pip install" in words


def pins():
    lines = [line.strip() for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()]
    return [line.split("==") for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_packages_are_pinned_once_in_the_ranges_of_the_project(extra):
    versions = {canonicalize_name(name): version for name, version in pins()}
    assert len(versions) == len(pins())
    for line in EXTRAS[extra] if extra else PROJECT["dependencies"]:
        wanted = requirements.Requirement(line)
        if wanted.name != "simtown":
            assert versions[canonicalize_name(wanted.name)] in wanted.specifier, line


def test_condas_recipe_requires_what_pip_does():
    recipe = pytest.importorskip("yaml").safe_load((ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == simtown.__version__
    wanted = {requirements.Requirement(line) for line in recipe["requirements"]["run"]}
    python = f"python {PROJECT['requires-python']}"
    assert wanted == {requirements.Requirement(line) for line in (python, *PROJECT["dependencies"])}
    build = {line for line in BUILD["requires"] if "ziglang" not in line}
    assert set(map(requirements.Requirement, build)) <= {
        requirements.Requirement(line) for line in recipe["requirements"]["host"]
    }


def hashed(name):
    """The requirements of requirements/NAME.txt, and the hashes of each."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if not line.startswith("#"):
            requirement, *hashes = line.split(" --hash=")
            yield requirements.Requirement(requirement), [value.strip() for value in hashes]


def needed(lines):
    """What these need on this machine but PyTorch, as the packages installed in the pinned version say."""
    versions = {canonicalize_name(name): version for name, version in pins()}
    seen, rest = set(), [(requirements.Requirement(line), "") for line in lines]
    while rest:
        wanted, extra = rest.pop()
        name = canonicalize_name(wanted.name)
        if name == "torch" or (wanted.marker and not wanted.marker.evaluate({"extra": extra})):
            continue
        for inner in {"", *wanted.extras}:
            if (name, inner) not in seen:
                seen.add((name, inner))
                if name == "simtown":
                    further = EXTRAS.get(inner, PROJECT["dependencies"])
                else:
                    further = metadata.requires(name) if installed(name) == versions[name] else None
                rest += [(requirements.Requirement(line), inner) for line in further or ()]
    return {name for name, _ in seen} - {"simtown"}


def installed(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@pytest.mark.parametrize("name", resolve.FILES)
def test_packages_that_make_and_ci_install_have_hashes_and_the_versions_of_constraints(name):
    versions = {canonicalize_name(package): version for package, version in pins()}
    for requirement, hashes in hashed(name):
        assert str(requirement.specifier) == f"=={versions[canonicalize_name(requirement.name)]}", requirement
        assert requirement.url is None
        assert hashes, requirement
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", value) for value in hashes), requirement


def test_nothing_that_the_demo_or_the_tests_need_but_pytorch_is_without_a_hash():
    assert needed(["simtown", *BUILD["requires"]]) <= {requirement.name for requirement, _ in hashed("demo")}
    names = {requirement.name for requirement, _ in hashed("test")}
    assert needed(["simtown[dev]"]) <= names
    assert "sympy" in names
    assert not any(name in names for name in ("torch", "triton", "nvidia-cublas"))


#: A target of make, the files of requirements that it installs, and how it installs simtown in the end.
TARGETS = [("demo", ["demo"], "--no-deps --no-build-isolation .")]
TARGETS += [(".venv-test/.complete", ["build", "test"], "--no-build-isolation -e '.[dev]'")]


@pytest.mark.skipif(not shutil.which("make"), reason="needs make: apt-get install make")
@pytest.mark.parametrize(("target", "files", "last"), TARGETS)
def test_make_checks_hashes_before_it_installs_simtown(target, files, last):
    """Only a torch without CUDA is installed before them, by its own index."""
    command = ["make", "--dry-run", "--always-make", target]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    installs = [line.strip() for line in printed.splitlines() if "pip install" in line]
    *before, simtown = [line for line in installs if "--index-url" not in line]
    assert [line.split(" -r ")[1].removesuffix(" \\") for line in before] == [
        f"requirements/{name}.txt" for name in files
    ]
    assert all("--require-hashes --no-deps" in line for line in before)
    assert simtown.endswith(last)
    for line in set(installs) - {*before, simtown}:
        assert "--no-deps --index-url" in line
        assert line.endswith(" torch; \\")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_named_by_commit(path):
    """A tag can be moved to other code, a commit cannot; Dependabot renews both."""
    lines = [line for line in path.read_text().splitlines() if re.match(r"[\s-]*uses\s*:", line)]
    assert lines
    for line in lines:
        assert re.fullmatch(r"\s*(- )?uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_read_the_sources_and_no_more(path):
    workflow = pytest.importorskip("yaml").safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    triggers = workflow[True]  # YAML's `on`
    # none of which shows secrets to the code of a pull request
    assert set(triggers) <= {"push", "pull_request", "schedule", "workflow_dispatch"}
    for job in workflow["jobs"].values():
        if "permissions" in job:  # to deploy the site, where no code of ours runs
            assert job["permissions"] == {"pages": "write", "id-token": "write"}
            assert all(step["uses"].startswith("actions/deploy-pages@") for step in job["steps"])
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")  # what a stranger names a branch is no part of a command
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_no_extra_of_all_is_missing_on_linux():
    """What `all` and `dev` name exists; the two extras that some machines lack are documented."""
    systems = {"linux": ["x86_64", "aarch64"], "darwin": ["arm64"], "win32": ["AMD64"]}

    def lacking(python, sys_platform, machine):
        """Extras of which markers leave nothing."""
        version = ".".join(python.split(".")[:2])
        names = ("python_version", "python_full_version", "sys_platform", "platform_machine")
        here = dict(zip(names, (version, python, sys_platform, machine), strict=True))
        markers = {name: [requirements.Requirement(line).marker for line in EXTRAS[name]] for name in EXTRAS}
        return {name for name, own in markers.items() if not any(m is None or m.evaluate(here) for m in own)}

    machines = [(system, machine) for system, names in systems.items() for machine in names]
    assert set().union(*(lacking("3.13.0", *machine) for machine in machines)) == {"cuda", "physics"}
    assert not lacking("3.11.2", "linux", "x86_64")


@pytest.mark.slow
def test_the_lines_of_the_readme_run_in_a_clone_into_which_simtown_was_installed(tmp_path):
    """There the sources, which have no kernels, hide the package, which has."""
    pytest.importorskip("hatchling", reason="needs hatchling: pip install hatchling")
    clone, python = tmp_path / "clone", tmp_path / "venv" / "bin" / "python"

    def run(*words, **more):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, **more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), clone)
    run(sys.executable, "-m", "venv", "--without-pip", python.parents[1])
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    present = [path for path in sys.path if path and not Path(path, "pyproject.toml").exists()]
    (site / "present.pth").write_text("\n".join(present))
    how = ("--quiet", "--ignore-installed", "--no-deps", "--no-build-isolation")
    run(python, "-m", "pip", "install", *how, ".", cwd=clone)
    (lines,) = re.findall(
        r"^```python\n(.*?)^```", (clone / "README.md").read_text(encoding="utf-8"), re.M | re.S
    )
    said = run(python, "-c", f"{lines}\nprint(simtown.__file__)", cwd=clone)
    assert Path(said.strip()) == clone / "simtown" / "__init__.py"
    assert not (clone / "simtown" / "kernels" / "lib").exists()
