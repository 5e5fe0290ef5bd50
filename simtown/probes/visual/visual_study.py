"""Colour, shape, material, size and co-occurrence of things (Zhang et al. 2022): ``simtown probe visual``."""

from functools import partial
from pathlib import Path
from typing import Any

from simtown.core.untrusted import folder
from simtown.probes import item_study
from simtown.probes.items import ItemSet
from simtown.probes.report import Results
from simtown.probes.study import Study, TaskRequest, TaskResult
from simtown.probes.visual import FORM, TASKS, VisualSettings, sizes
from simtown.probes.visual.mined import NAME, open_data
from simtown.probes.visual.release import FILES, VisualRelease
from simtown.probes.visual.sizes import WAYS, Sizes
from simtown.probes.visual.vicomte_tables import TABLES, printed

_EXPLAINED = (
    "score: mean Spearman ρ over subjects ± sd, times 100 (of size: rank partition, per cent; projection: "
    "one ρ over nouns); in brackets 95 % bootstrap intervals over subjects; prior: the train subjects' "
    "mean distribution (of size: a random order); ceiling: the best that a ranking without ties can "
    "reach; choice of 2: the best class against a wrong one; subject-blind prior, prior choice: of one who "
    "knows what was right of the train subjects, and not which subject is asked about."
)


def items(source: Path, settings: VisualSettings) -> dict[str, ItemSet | Sizes]:
    """The items of the tasks that the settings name and the data has."""
    data = open_data(source)
    tasks = settings.task_names if settings.task != "all" else [t for t in TASKS if t in data.tasks()]
    ways = WAYS if "size" in tasks else ()
    templates: dict[str, Any] = {way: data.templates(f"size_{way}") for way in ways}
    learned: dict[str, list[str]] = {}
    if isinstance(data, VisualRelease):
        learned = {way: [pair.best for pair in data.pairs(f"size_{way}", "train")] for way in ways}
    return {t: Sizes(data.sizes(), templates, learned) if t == "size" else data.dataset(t) for t in tasks}


def ask(request: TaskRequest) -> TaskResult:
    """Ask about the items of a relation, by tuned prompts if the settings say so, or about sizes."""
    data, use = request.items, request.settings.use
    if request.task == "size":
        return sizes.ask(request)
    if use not in ("tuned", "tuned-embeddings"):
        return item_study.ask_items(request)
    from simtown.probes.visual import soft_prompts

    progress = request.bars(f"{use}, {data.relation}, passes", soft_prompts.EPOCHS)
    prompts = folder(request.out, "prompts") / f"{data.relation}.safetensors"
    scorer = request.scorer(request.settings.policy)
    answers, notes = soft_prompts.tune(scorer, data, request.settings.seed, use == "tuned", prompts, progress)
    return item_study.task_result(data, use, [answers], notes)


def pages(results: Results) -> dict[str, str]:
    """summary.csv and summary.md."""
    lines = []
    for task in (task for task in TASKS if task in results.tasks):
        summary = results.tasks[task]
        lines += sizes.lines(summary) if task == "size" else item_study.table_lines(task, summary)
    notes = [_EXPLAINED, *item_study.remarks(results), *sizes.remarks(results.tasks.get("size", {}))]
    return item_study.score_pages(results, lines, notes)


def draw(results: Results, task: str, data: Any) -> None:
    """Draw the picture of a task."""
    if task == "size":
        sizes.draw(results)
    else:
        item_study.draw_items(results, task, data)


VISUAL = Study(
    name="visual",
    settings=VisualSettings,
    tasks=TASKS,
    items=items,
    digest=lambda data: data.digest(),
    ask=ask,
    pages=pages,
    draw=draw,
    compare=item_study.compare_items,
    printed={name: partial(printed, name) for name in TABLES},
    files=("prompts",),
    form=FORM,
    reads=(*FILES.patterns(), NAME, "*.parquet"),
)
