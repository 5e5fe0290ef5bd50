"""Names of the formats of other tools, which simtown.datasets.export writes."""

#: Those that ask a model: questions with instructions, and what scores or trains.
HARNESSES: dict[str, str] = {
    "lmms-eval": "lmms-eval: tasks (YAML and Parquet)",
    "vlmevalkit": "VLMEvalKit: TSV and run.py",
    "inspect": "Inspect: tasks and JSON lines",
    "llava": "LLaVA's and ShareGPT's JSON with pictures",
    "chat": "OpenAI's chat messages in JSON lines",
}
#: Every format, with a description.
FORMATS: dict[str, str] = {
    "coco": "COCO instances: JSON with boxes and run-length masks",
    "clevr": "CLEVR scenes and questions with functional programs",
    "webdataset": "WebDataset tar shards",
    "parquet": "Parquet with pictures inside, for Hugging Face datasets",
    "yolo": "YOLO labels and data.yaml",
    "pairs": "minimal pairs of words with the pictures of twins: CSV, lm-eval and EWoK",
    "png": "PNG files and questions.jsonl",
    **HARNESSES,
}


def require_format(name: str) -> None:
    """Raises ValueError if there is no such format."""
    if name not in FORMATS:
        known = f"choose among {', '.join(FORMATS)}"
        if name.lower().replace("-", "") in ("hf", "huggingface"):
            known = "parquet is what Hugging Face reads"
        raise ValueError(f"unknown format '{name}': {known}")
