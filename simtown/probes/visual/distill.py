"""Knowledge distillation (section 4.2): a student that learns to say, of masked text, what a teacher says of
it.

Kullback-Leibler divergence of the student's distribution from the teacher's at every position, mean over
sentences; temperature 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

from simtown.core.files import as_json, claimed, save_json
from simtown.core.options import check
from simtown.core.progress import Progress
from simtown.core.runs import require_empty
from simtown.core.version import __version__
from simtown.probes.corpus import Corpus
from simtown.probes.model_names import without_folders
from simtown.probes.quiet import quietly
from simtown.probes.scorers.base import Scorer
from simtown.probes.scorers.batching import together
from simtown.probes.visual import DistillSettings
from simtown.probes.visual.soft_prompts import masked_of

NAME = "distill.json"
#: Share of tokens that are masked; AdamW's weight decay; longest text in tokens.
MASKED, DECAY, LONGEST = 0.15, 0.01, 35


def divergence(teacher: torch.Tensor, student: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """KL(teacher || student) summed over real positions, per sentence. (n, t, v) logits twice, (n, t) 1 where
    a token is.
    """
    a, b = teacher.log_softmax(-1), student.log_softmax(-1)
    return ((a.exp() * (a - b)).sum(-1) * real).sum() / len(real)


def distill(
    teacher: Scorer, student: Scorer, corpus: Path, out: Path, settings: DistillSettings
) -> dict[str, Any]:
    """Train the student, and write it in Hugging Face's layout; the content of distill.json.

    Raises:
        UnableError: one is no masked model.
        ValueError: their vocabularies differ, or the corpus has no text.
        ForeignDirectoryError: `out` has anything in it.
    """
    check(settings)
    a, b = masked_of(teacher), masked_of(student)
    if a.tokenizer.get_vocab() != b.tokenizer.get_vocab():
        raise ValueError(
            f"{teacher.name} and {student.name} have different vocabularies: their distributions cannot be "
            "compared"
        )
    with claimed(out, "simtown probe visual distill"):
        require_empty(out)
        texts = [
            ids
            for sentence in Corpus(corpus)
            if len(ids := b.tokenizer(sentence, truncation=True, max_length=LONGEST)["input_ids"]) > 2
        ]
        if not texts:
            raise ValueError(f"{corpus} holds no text")
        started = perf_counter()
        losses = _train(a, b, texts, settings, out)
        with quietly():
            b.model.save_pretrained(out)
        b.tokenizer.save_pretrained(out)
        models = {"teacher": without_folders(teacher.name), "student": without_folders(student.name)}
        content = {
            "version": __version__,
            **models,
            "corpus": corpus.name,
            **asdict(settings),
            "texts": len(texts),
            "divergence_first": float(np.mean(losses[:20])),
            "divergence_last": float(np.mean(losses[-20:])),
            "seconds": perf_counter() - started,
        }
        save_json(out / NAME, as_json(content))
    return content


def _train(
    teacher: Any, student: Any, texts: list[list[int]], settings: DistillSettings, out: Path
) -> list[float]:
    """The divergence of every batch."""
    rng = np.random.default_rng(settings.seed)
    model = student.model.requires_grad_(True).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=DECAY)
    steps = settings.epochs * -(-len(texts) // settings.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda i: max(0.0, 1 - i / steps))
    losses: list[float] = []
    with Progress(f"distill {out}, steps") as bar, torch.random.fork_rng():
        torch.manual_seed(settings.seed)  # dropout
        bar.on_begin(steps)
        for ids, real in _batches(student, texts, settings, rng):
            optimiser.zero_grad()
            losses.append(0.0)
            lengths = real.sum(1).cpu().numpy()
            for rows in together(lengths, equal=teacher.sees_padding or student.sees_padding):
                cells = (student.tensor(rows), slice(lengths[rows].max()))
                inputs = {"input_ids": ids[cells], "attention_mask": real[cells]}
                with torch.no_grad():
                    teacher_logits = teacher.model(**inputs).logits.float()
                student_logits = model(**inputs).logits.float()
                share = len(rows) / len(ids)
                loss = share * divergence(teacher_logits, student_logits, real[cells])
                loss.backward()
                losses[-1] += float(loss.detach())
            optimiser.step()
            schedule.step()
            bar.on_progress(1)
    model.eval().requires_grad_(False)
    return losses


def _batches(
    scorer: Any, texts: list[list[int]], settings: DistillSettings, rng: np.random.Generator
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Padded batches with some tokens masked, at least one a sentence; special tokens never."""
    mask, special = scorer.tokenizer.mask_token_id, set(scorer.tokenizer.all_special_ids)
    for _ in range(settings.epochs):
        order = rng.permutation(len(texts))
        for batch in np.array_split(order, -(-len(texts) // settings.batch)):
            shown = []
            for i in batch:
                free = [k for k, token in enumerate(texts[i]) if token not in special]
                hidden = (
                    {free[k] for k in rng.permutation(len(free))[: max(1, round(MASKED * len(free)))]}
                    if free
                    else set()
                )
                shown.append([mask if k in hidden else token for k, token in enumerate(texts[i])])
            yield scorer.padded(shown)
