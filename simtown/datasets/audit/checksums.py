"""Files that were changed after the data set was made."""

from __future__ import annotations

from pathlib import Path

from simtown.datasets.audit.findings import Finding
from simtown.datasets.reader import Dataset
from simtown.datasets.shards import checksum


def is_changed(dataset: Dataset, path: Path) -> bool:
    """Whether the bytes of a shard's file are not those that the manifest names.

    A shard behind a URL was compared when it was fetched, too.
    """
    name = path.relative_to(dataset.path).as_posix()
    return bool(checksum(path) != dataset.manifest["shards"][name]["sha256"])


def changed_files(changed: list[str], files: int) -> Finding:
    """Shards that are not what the manifest names, of so many files."""
    example = f": {', '.join(changed[:3])}{' ...' if len(changed) > 3 else ''}" if changed else ""
    return Finding(
        "changed files",
        "all",
        f"{len(changed):,} of {files:,} files differ from their checksum in the manifest{example}",
        "Somebody changed these files after simtown made them: run simtown verify to see what is wrong, or "
        "generate the data set again.",
        status="warn" if changed else "pass",
        details={"changed": changed, "files": files},
    )
