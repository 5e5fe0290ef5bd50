"""The documentation as a site, built by Sphinx: make docs."""

import os
import shutil
import sys
import tomllib
import warnings
from pathlib import Path

from docutils import nodes
from PIL import Image

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

from simtown import __version__  # noqa: E402
from tools import families, play_lite, reference, sequences, worlds  # noqa: E402

project, author, version = "simtown", "The simtown authors", __version__
copyright = f"{author}, Apache-2.0"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
os.environ["PATH"] = (
    f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # for `!simtown` of a chapter
)
# What examples print is theirs alone: no bars and no warnings of the libraries that they use.
os.environ |= {"TQDM_DISABLE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error"}
warnings.filterwarnings("ignore", module="(?:transformers|trl|torch|datasets)(?:\\.|$)")
# IPython lets a cell pass whose `!command` fails; here it does not.
STARTUP = ROOT / "out" / "ipython" / "profile_default" / "startup" / "failing.py"
STARTUP.parent.mkdir(parents=True, exist_ok=True)
STARTUP.write_text("""
shell = get_ipython()
run = shell.system

def checked(command):
    run(command)
    if shell.user_ns["_exit_code"]:
        raise RuntimeError(f"exit status {shell.user_ns['_exit_code']}: {command}")

shell.system = checked
""")
os.environ["IPYTHONDIR"] = str(STARTUP.parents[2])
exclude_patterns = ["gallery_header.rst", "examples/*.ipynb", "families/playing.md"]
default_role, highlight_language = "code", "text"
suppress_warnings = ["ref.python"]  # a word of a docstring, such as n, that several classes have

# Pages in Markdown. Those of docs/chapters are notebooks, and run.
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 1200  # seconds; a busy machine needs many
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

# Pages of the code.
add_module_names = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "ignore-module-all": True}
autodoc_mock_imports = ["inspect_ai", "nemo_gym", "reasoning_gym", "verifiers", "vlmeval"]
python_maximum_signature_line_length = 80
napoleon_use_ivar, napoleon_use_rtype = True, False
nitpicky = True  # a :func:`simtown.x.y` that leads nowhere fails the build; other names may
nitpick_ignore_regex = [
    (r"py:.*", r"(?!simtown\.).*"),
    (r"py:class", r"simtown\..*\.(_\w+|T|Key|Value|Piece|Style)"),
]

# Scripts that run, with what they print and the pictures that they write. They run on a copy.
EXAMPLES = ROOT / "out" / "examples"
shutil.rmtree(EXAMPLES, ignore_errors=True)
shutil.copytree(ROOT / "examples", EXAMPLES)
sphinx_gallery_conf = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "tools.reference.fresh_simtown"),
    "reset_modules_order": "both",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 0,
    "remove_config_comments": True,
    "thumbnail_size": (400, 225),
    "abort_on_example_error": True,
}

HEAT_MAPS = ("vg-sparsity", "spatial-relations", "town-relations")  # dark and light cells mean something
WIDE = ("index", "gallery/README", "reproduce/sample-complexity")  # pages without a list of their headings
html_theme = "pydata_sphinx_theme"
html_title = "simtown"
html_static_path = ["_static"]
EXTRA = ROOT / "out" / "extra"  # copied beside the pages
EXTRA.mkdir(parents=True, exist_ok=True)
html_extra_path = [str(EXTRA)]
html_css_files = ["simtown.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_search_scorer = str(DOCS / "_static" / "scorer.js")
html_domain_indices = html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "github_url": tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"],
    "secondary_sidebar_items": {"**": ["page-toc"]} | {page: [] for page in WIDE},
    "logo": {"text": "simtown"},
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "performance": []}


def mark_pictures(app, document):
    """Large pictures become links to themselves; charts get a class, which the dark theme turns dark."""
    for image in document.findall(nodes.image):
        path = DOCS / image["uri"]
        if path.suffix in (".png", ".webp") and path.exists():
            with Image.open(path) as picture:
                if picture.width > 800 and "width" not in image and "sd-card-img-top" not in image["classes"]:
                    image["width"] = "100%"
                # of all PNGs, only matplotlib's have an alpha; so have WebPs that play, which are no charts
                if (path.suffix, picture.mode) == (".png", "RGBA") and not path.stem.startswith(HEAT_MAPS):
                    image["classes"].append("chart")


def setup(app):
    """Called by Sphinx."""
    app.connect("builder-inited", lambda app: reference.write(DOCS / "reference"))
    app.connect("builder-inited", lambda app: families.write())
    app.connect("builder-inited", lambda app: sequences.write())
    app.connect("builder-inited", lambda app: worlds.write())
    app.connect("builder-inited", lambda app: play_lite.write(EXTRA / "play-lite"))
    app.connect("autodoc-process-docstring", reference.as_rst, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", reference.has_page)
    app.connect("doctree-read", mark_pictures)
