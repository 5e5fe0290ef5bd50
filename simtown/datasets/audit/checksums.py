"""Files that were changed after the data set was made."""

from __future__ import annotations

from simtown.datasets.audit.findings import Finding
from simtown.datasets.reader import Dataset
from simtown.datasets.shards import checksum


def changed_files(dataset: Dataset) -> Finding:
    """Shards whose bytes are not those that the manifest names. Shards behind a URL are compared when they are fetched, too."""
    shards = dataset.manifest["shards"]
    changed = [name for name, entry in sorted(shards.items()) if checksum(dataset.path / name) != entry["sha256"]]
    example = f": {', '.join(changed[:3])}{' ...' if len(changed) > 3 else ''}" if changed else ""
    return Finding(
        "changed files", "all", f"{len(changed):,} of {len(shards):,} files differ from their checksum in the manifest{example}",
        "Somebody changed these files after simtown made them: run simtown verify to see what is wrong, or make the data anew.",
        status="warn" if changed else "pass", details={"changed": changed, "files": len(shards)},
    )  # fmt: skip
