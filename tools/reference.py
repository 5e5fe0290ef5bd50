"""A page of the reference for every public module, from its docstrings; mkdocs runs this (see mkdocs.yml)."""

from pathlib import Path

import mkdocs_gen_files

ROOT = Path(__file__).parent.parent
LEFT_OUT = ("simtown/cli", "simtown/assets/vehicles", "simtown/assets/street", "simtown/render/cuda")

nav = mkdocs_gen_files.Nav()
for path in sorted((ROOT / "simtown").rglob("*.py")):
    name = path.relative_to(ROOT)
    parts = name.with_suffix("").parts
    if name.as_posix().startswith(LEFT_OUT) or (parts[-1].startswith("_") and parts[-1] != "__init__"):
        continue
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    page = Path(*parts, "index.md") if path.name == "__init__.py" else Path(*parts).with_suffix(".md")
    nav[parts] = page.as_posix()
    with mkdocs_gen_files.open(Path("reference", page), "w") as file:
        file.write(f"::: {'.'.join(parts)}\n")
    mkdocs_gen_files.set_edit_path(Path("reference", page), name)
with mkdocs_gen_files.open("reference/SUMMARY.md", "w") as file:
    file.writelines(nav.build_literate_nav())
