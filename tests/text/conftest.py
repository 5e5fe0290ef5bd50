"""Released files of Visual Genome in small: a corpus may be its region descriptions."""

from tests.visualgenome.conftest import plain_json, released

__all__ = ["plain_json", "released"]
