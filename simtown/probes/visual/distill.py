"""Knowledge distillation (section 4.2): a student learns to say, of masked text, what a teacher says of it.

Kullback-Leibler divergence of the student's distribution from the teacher's at every position, mean over
sentences; temperature 1.
"""

import copy
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

from simtown.core.files import as_json, save_json, whole
from simtown.core.options import check
from simtown.core.pretrained import quietly
from simtown.core.progress import progress_of
from simtown.core.version import __version__
from simtown.probes.corpus import Corpus
from simtown.probes.lm.train import Texts
from simtown.probes.model_names import without_folders
from simtown.probes.scorers.base import Scorer
from simtown.probes.scorers.batching import together
from simtown.probes.scorers.masked import Masked
from simtown.probes.visual import DistillSettings
from simtown.probes.visual.soft_prompts import masked_of

NAME = "distill.json"
#: Share of tokens that are masked; AdamW's weight decay; longest text in tokens.
MASKED, DECAY, LONGEST = 0.15, 0.01, 35


def divergence(teacher: torch.Tensor, student: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """KL(teacher || student) per sentence: (n, t, v) logits twice, (n, t) 1 where a token counts."""
    a, b = teacher.log_softmax(-1), student.log_softmax(-1)
    return ((a.exp() * (a - b)).sum(-1) * real).sum() / len(real)


def distill(
    teacher: Scorer, student: Scorer, corpus: Path, out: Path, settings: DistillSettings
) -> dict[str, Any]:
    """Train the student, and write it in Hugging Face's layout; the content of distill.json."""
    check(settings)
    a, b = masked_of(teacher), masked_of(student)
    if a.tokenizer.get_vocab() != b.tokenizer.get_vocab():
        raise ValueError(f"{teacher.name} and {student.name} have different vocabularies: nothing compares")
    texts = Texts(b.tokenizer, list(Corpus(corpus)), LONGEST)
    if not len(texts):
        raise ValueError(f"{corpus} holds no text")
    with whole(out, "simtown probe visual distill") as directory:
        started = perf_counter()
        losses = _train(a, b, texts, settings, f"distill {out}, steps")
        with quietly():
            b.model.save_pretrained(directory)
        b.tokenizer.save_pretrained(directory)
        names = {"teacher": without_folders(teacher.name), "student": without_folders(student.name)}
        first, last = (float(np.mean(part)) for part in (losses[:20], losses[-20:]))
        content = {"version": __version__, **names, "corpus": corpus.name, **asdict(settings)}
        content |= {"texts": len(texts), "divergence_first": first, "divergence_last": last}
        content["seconds"] = perf_counter() - started
        save_json(directory / NAME, as_json(content))
    return content


def _train(a: Masked, b: Masked, texts: Texts, settings: DistillSettings, title: str) -> list[float]:
    """Train student b on teacher a; the divergence of every batch."""
    rng = np.random.default_rng(settings.seed)
    model = b.model.requires_grad_(True).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=DECAY)
    steps = settings.epochs * -(-len(texts) // settings.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda i: max(0.0, 1 - i / steps))
    losses: list[float] = []
    with progress_of(title, steps) as progress, torch.random.fork_rng():
        torch.manual_seed(settings.seed)  # dropout
        for ids, real in _batches(b.tokenizer, texts, settings, rng):
            optimiser.zero_grad()
            losses.append(0.0)
            lengths = real.sum(1).numpy()
            for rows in together(lengths, equal=a.sees_padding or b.sees_padding):
                cells = (rows, slice(lengths[rows].max()))
                shown, mask = ids[cells].to(b.device), real[cells].to(b.device)
                with torch.no_grad():
                    teacher_logits = a.model(input_ids=shown, attention_mask=mask).logits.float()
                student_logits = model(input_ids=shown, attention_mask=mask).logits.float()
                loss = divergence(teacher_logits, student_logits, mask) * len(rows) / len(ids)
                loss.backward()
                losses[-1] += float(loss.detach())
            optimiser.step()
            schedule.step()
            progress(1)
    model.eval().requires_grad_(False)
    return losses


def _batches(
    tokenizer: Any, texts: Texts, settings: DistillSettings, rng: np.random.Generator
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Padded batches with some tokens masked, special ones never; and 1 where a token is real."""
    special = np.isin(texts.tokens, tokenizer.all_special_ids)
    for _ in range(settings.epochs):
        order, masked = rng.permutation(len(texts)), copy.copy(texts)
        hidden = (rng.random(len(texts.tokens)) < MASKED) & ~special
        masked.tokens = np.where(hidden, tokenizer.mask_token_id, texts.tokens)
        for rows in np.array_split(order, -(-len(texts) // settings.batch)):
            ids = masked.batch(rows, tokenizer.pad_token_id)
            yield ids, (ids != tokenizer.pad_token_id).long()
