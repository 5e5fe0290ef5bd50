# make demo: see simtown work.  make test: check it.  make help: the rest.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.NOTPARALLEL:

PYTHON ?= python3
PYTEST_ARGS ?=
# Where PyTorch's builds for processors alone are, 3 GB smaller than PyPI's with CUDA. Empty, or out of reach: PyPI's.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

DEMO := .venv-demo/bin
TEST := .venv-test/bin
INSTALL := -m pip install --quiet --disable-pip-version-check
# The versions of constraints.txt with their hashes. Neither a folder nor PyTorch can be installed so: tools/resolve.py says why.
HASHED := $(INSTALL) --require-hashes --no-deps
OPENGL_PACKAGES := libegl1 libegl-mesa0 libgl1-mesa-dri libgl1 libosmesa6
BROWSER_PACKAGES := chromium chromium-driver

.PHONY: help
help:
	@echo 'make demo        a small data set in out/demo, in a fresh virtual environment'
	@echo 'make test        linter, types and tests, in a fresh virtual environment'
	@echo 'make slow        the slow tests, in the environment of make test'
	@echo 'make older       the tests of training, with PyTorch as on a processor of 2015, in the same environment'
	@echo 'make lint        linter, formatter and types only, in the same environment'
	@echo 'make resolve     whether every extra can be installed with every Python on every platform; installs nothing'
	@echo 'make constraints bring constraints.txt and requirements/ up to date'
	@echo 'make wheels      wheels for Linux and macOS, x86-64 and arm64, in out/wheels'
	@echo 'make package     builds and checks what PyPI would get, and runs it in a fresh environment'
	@echo 'make docs        the documentation as a site, in out/docs, in the same environment'
	@echo 'make format      let the linter and formatter change the files'
	@echo 'make clean       remove what these commands made'
	@echo 'PYTHON=python3.13 chooses the interpreter; PYTEST_ARGS="-k raster" goes to pytest.'

.PHONY: python
python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "simtown needs Python 3.11 or newer; choose one: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	    || { bash tools/debian-packages.sh 'Virtual environments' python3-venv; $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; } \
	    || { echo "$(PYTHON) has no venv module: install it (on Debian: apt-get install python3-venv)." >&2; exit 1; }

.PHONY: demo
demo: python
	rm -rf .venv-demo out/demo
	$(PYTHON) -m venv .venv-demo
	@echo 'Downloading 25 packages and a compiler (140 MB) into .venv-demo: about a minute, 190 MB when it is done.'
	@set -o pipefail; $(DEMO)/python $(subst --quiet,,$(HASHED)) -r requirements/demo.txt \
	    | awk '/^ *(Downloading|Using cached) .*whl [(]/ {sub(/^ */, "  "); print; fflush()}'
	@echo 'Compiling simtown: about ten seconds.'
	$(DEMO)/python $(INSTALL) --no-deps --no-build-isolation .
	$(DEMO)/python -m pip uninstall --quiet --yes ziglang  # the compiler has done its work; it takes 411 MB
	$(DEMO)/simtown generate --entities 20 --n 400 --val 100 --test 100 --out out/demo
	@echo
	@echo 'Done. 600 pictures of a town with 20 kinds of vehicles, each with a yes/no question, are in:'
	@echo '  $(CURDIR)/out/demo'
	@pages="$$(find out/demo \( -name '*.html' -o -name '*.png' \) -type f | sort | head -n 5)"; \
	    if [[ -n $$pages ]]; then echo 'Open to see them:'; sed 's|^|  $(CURDIR)/|' <<<"$$pages"; fi
	@echo 'Play:          $(DEMO)/simtown play'
	@echo 'Make your own: $(DEMO)/simtown generate --help'

# The environment of the tests, made anew when what it installs changes.
.venv-test/.complete: pyproject.toml constraints.txt requirements/build.txt requirements/test.txt
	@$(MAKE) python
	@bash tools/debian-packages.sh 'The OpenGL tests (they skip without)' $(OPENGL_PACKAGES)
	@bash tools/debian-packages.sh 'The tests of pages in a browser (they skip without)' $(BROWSER_PACKAGES)
	rm -rf .venv-test
	$(PYTHON) -m venv .venv-test
	$(TEST)/python $(HASHED) -r requirements/build.txt
	@if [[ -n '$(TORCH_INDEX)' ]] && $(PYTHON) -c 'import urllib.request as u; u.urlopen("$(TORCH_INDEX)/torch/", timeout=10)' 2>/dev/null; \
	then \
	    echo 'Installing about 4 GB into .venv-test. PyTorch comes from $(TORCH_INDEX).'; \
	    $(TEST)/python $(INSTALL) -c constraints.txt --no-deps --index-url '$(TORCH_INDEX)' torch; \
	else \
	    echo 'Installing into .venv-test: about 7 GB if PyPI gives PyTorch with CUDA, 4 GB if not (TORCH_INDEX=URL names another index for it).'; \
	fi
	$(TEST)/python $(HASHED) --no-build-isolation -r requirements/test.txt
	$(TEST)/python $(INSTALL) -c constraints.txt --no-build-isolation -e '.[dev]'
	@touch $@

.PHONY: test
test:
	@rm -rf .venv-test
	@$(MAKE) .venv-test/.complete
	@$(MAKE) lint
	$(TEST)/python -m pytest -n 2 --dist worksteal $(PYTEST_ARGS)

# A new processor hides what an older one lacks, such as PyTorch's LSTM in bfloat16.
.PHONY: older
older: .venv-test/.complete
	ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2 $(TEST)/python -m pytest -n 2 --dist worksteal tests/training $(PYTEST_ARGS)

.PHONY: resolve
resolve: .venv-test/.complete
	$(TEST)/python tools/resolve.py

.PHONY: constraints
constraints: .venv-test/.complete
	$(TEST)/python tools/resolve.py --write

# For each of: Linux and macOS, x86-64 and arm64. One machine makes all.
.PHONY: wheels
wheels: .venv-test/.complete
	@for target in x86_64-linux-gnu.2.28 aarch64-linux-gnu.2.28 x86_64-macos aarch64-macos; do \
	    SIMTOWN_TARGET=$$target $(TEST)/python $(INSTALL:install=wheel) --no-deps --no-build-isolation --wheel-dir out/wheels .; done
	@ls -l out/wheels

.PHONY: package
package: .venv-test/.complete
	$(TEST)/python -m tools.package

# Runs every chapter and example. A warning, such as a broken link, fails it.
.PHONY: docs
docs: .venv-test/.complete
	$(TEST)/python -m sphinx --jobs 2 --fail-on-warning --quiet -d out/doctrees docs out/docs

.PHONY: lint
lint: .venv-test/.complete
	$(TEST)/ruff check .
	$(TEST)/ruff format --check .
	$(TEST)/mypy

.PHONY: format
format: .venv-test/.complete
	$(TEST)/ruff check --fix .
	$(TEST)/ruff format .

# pytest exits 5 where it finds no test: no failure.
.PHONY: slow
slow: .venv-test/.complete
	$(TEST)/python -m pytest -n 2 --dist worksteal -m slow $(PYTEST_ARGS) || [[ $$? -eq 5 ]]

.PHONY: clean
clean:
	rm -rf .venv-demo .venv-test out/demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@[[ ! -d out ]] || rmdir --ignore-fail-on-non-empty out
	@find simtown tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
