"""VLMEvalKit's command with simtown's questions: python run.py --data NAME --model MODEL."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import Any

import vlmeval.dataset
from vlmeval import run
from vlmeval.dataset.image_base import ImageBaseDataset
from vlmeval.smp import dump, get_intermediate_file_path, load, load_env, md5

from simtown.datasets.export.harnesses.scoring import answers_beside, score, summary

ANSWERS = answers_beside(__file__)
TABLES = {path.stem: str(path) for path in Path(__file__).parent.glob("*.tsv")}
#: VLMEvalKit keeps replies as Excel by default, which loses long ones.
os.environ["PRED_FORMAT"] = "tsv"
csv.field_size_limit(sys.maxsize)


class Simtown(ImageBaseDataset):
    """The data sets of this folder; the replies are scored here, and no judge is asked."""

    TYPE = "VQA"
    DATASET_URL = dict.fromkeys(TABLES, "")

    def load_data(self, dataset: str) -> Any:
        """The table of a split. Pictures of another export of the same name are not taken for its own."""
        self.img_root += f"-{md5(TABLES[dataset])[:8]}"
        return load(TABLES[dataset])

    def evaluate(self, eval_file: str, **judge: Any) -> dict[str, float]:
        """The metrics of a table with a column of predictions, in which "None" is a reply."""
        rows = []
        with open(eval_file, encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file, delimiter="\t"):
                lengths = {
                    name: float(line[name]) if line[name] else None for name in ("number", "tolerance")
                }
                item = {**line, **lengths, "group": line["group"] or None}
                rows.append(score(line["prediction"], item, ANSWERS))
        metrics = summary(rows)
        dump(metrics, get_intermediate_file_path(eval_file, "_score", "json"))
        return metrics


vlmeval.dataset.DATASET_CLASSES.insert(0, Simtown)
if __name__ == "__main__":
    load_env()
    run.main()
