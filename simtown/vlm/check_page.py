"""What ``simtown check`` shows: a table for the terminal, and a page of one screen."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Iterator, Sequence
from importlib.resources import files

import numpy as np

from simtown.core.tables import Table
from simtown.datasets.showing.gallery import assemble, base_style
from simtown.probes.model_names import without_folders
from simtown.render.masks import picture_file
from simtown.vlm.check_battery import Battery
from simtown.vlm.check_probes import PROBES
from simtown.vlm.check_run import CheckReport, notes
from simtown.vlm.check_verdicts import CANNOT_TELL, DELIVERED, LOOKS, NOT_DELIVERED, Verdict
from simtown.vlm.vision_model import Query

#: Pixels of a side of a picture's middle on the page, and of a picture that are one pixel there.
_THUMB, _COARSE = 56, 4
_CLASSES = {DELIVERED: "delivered", NOT_DELIVERED: "lost", CANNOT_TELL: "unsure"}
_NOTE = (
    "A pair is solved if both of its questions, which have the same words and different answers, are "
    "answered rightly. Delivered: more answers are right than guesses. Not delivered: fewer pairs are solved "
    "than of the control, which is asked in doubt, and beyond guesses at most half as many are right. "
    "Less: control less probe, with its 95 % interval, often too wide for so few pairs. Probes are judged "
    f"after {', '.join(map(str, LOOKS))} pairs alone."
)


def table(report: CheckReport) -> Table:
    """A row for each probe, with the verdict of each model."""
    columns = ["probe", "solved", "control", *_heads(report), "found"]
    rows = [
        [own[0].probe, *_counts(own[0]), *(each.verdict for each in own), _found(own)]
        for own in _by_probe(report)
    ]
    return Table(columns, rows)


def _heads(report: CheckReport) -> list[str]:
    """The heads of the columns of verdicts."""
    return [*map(without_folders, report.batteries)] if report.against else ["verdict"]


def _by_probe(report: CheckReport) -> Iterator[tuple[Verdict, ...]]:
    """The verdicts of all models about each probe."""
    return zip(*(battery.verdicts.values() for battery in report.batteries.values()), strict=True)


def _found(own: Sequence[Verdict]) -> str:
    return "; ".join(dict.fromkeys(each.found for each in own if each.found))


def _counts(own: Verdict) -> tuple[str, str]:
    """Solved pairs of a probe and of its control, such as "8/8"; "" where there are none."""
    if not own.pairs:
        return "", ""
    control = f"{round(own.control * own.pairs)}/{own.pairs}" if own.control == own.control else ""
    return f"{round(own.test * own.pairs)}/{own.pairs}", control


def page(report: CheckReport) -> str:
    """The page of a report, in HTML: one file without a script."""
    same = {record["probe"]: record for record in report.differences}
    heads = ["probe", "a pair", "solved", "control", "less", *_heads(report)]
    heads += [*(["same answers"] if same else []), "found"]
    rows = ["".join(f"<th>{_escape(head).replace('/', '/<wbr>')}</th>" for head in heads)]
    for verdicts in _by_probe(report):
        own, name = verdicts[0], verdicts[0].probe
        cells = [
            f"<td><b>{name}</b> {'' if same else own.about}</td>",
            f'<td class="pair">{_pair(report.battery, name)}</td>',
        ]
        cells += [f"<td>{text}</td>" for text in (*_counts(own), _interval(own))]
        cells += [f'<td class="verdict {_CLASSES[each.verdict]}">{each.verdict}</td>' for each in verdicts]
        if same:
            cells.append(f"<td>{same[name]['same']:.0%}</td>" if name in same else "<td></td>")
        rows.append("".join([*cells, f'<td class="found">{_escape(_found(verdicts))}</td>']))
    asked = ", ".join(f"{len(battery.said)} questions" for battery in report.batteries.values())
    remarks = dict.fromkeys(remark for battery in report.batteries.values() for remark in notes(battery))
    parts = {
        "name": _escape(without_folders(report.model)),
        "about": f"does the path to the model deliver what was sent? · {asked}",
        "headline": _escape(report.headline()),
        "table": "\n".join(f"<tr>{row}</tr>" for row in rows),
        "note": _escape(" ".join([*(f"{remark}." for remark in remarks), _NOTE])),
    }
    markup, style = (
        (files(__package__) / f"check.{kind}").read_text(encoding="utf-8") for kind in ("html", "css")
    )
    for name, text in parts.items():
        markup = markup.replace(f"{{{name}}}", text)
    return assemble(without_folders(report.model), markup, base_style() + style, "")


def _escape(text: str) -> str:
    """A text of a model or server, in HTML; a brace could be taken for a part of the page."""
    return html.escape(text).replace("{", "&#123;")


def _interval(own: Verdict) -> str:
    """A difference with its interval, drawn from -1 to 1."""
    if own.low != own.low:
        return ""
    low, middle, high = (60 + 54 * value for value in (own.low, own.difference, own.high))
    label = f"{own.difference:+.2f} ({own.low:+.2f} to {own.high:+.2f})"
    return (
        f'<svg viewBox="0 0 120 20" role="img" aria-label="{label}"><title>{label}</title>'
        f'<line class="axis" x1="60" y1="2" x2="60" y2="18"/>'
        f'<line class="span" x1="{low:.1f}" y1="10" x2="{high:.1f}" y2="10"/>'
        f'<circle class="dot" cx="{middle:.1f}" cy="10" r="4"/></svg>'
    )


def _pair(battery: Battery, name: str) -> str:
    """The pictures of a probe's first pair."""
    pairs = battery.pairs.get(name)
    return " ".join(_thumbnail(query, PROBES[name].is_adaptive) for query in pairs[0][0]) if pairs else ""


def _thumbnail(query: Query, is_small: bool) -> str:
    """The pictures of a question, or their middle; its right answer, if it has none."""
    answer, shown = _escape(query.gold.answer), ""
    for picture in (own for turn in query.messages for own in turn.pictures):
        pixels = middle(picture) if is_small else picture[::_COARSE, ::_COARSE]
        encoded = b64encode(picture_file(pixels, "WEBP", quality=80)).decode()
        shown += f'<img src="data:image/webp;base64,{encoded}" alt="{answer}" title="{answer}">'
    return shown or f"“{answer}”"


def middle(picture: np.ndarray, side: int = _THUMB) -> np.ndarray:
    """The middle of a picture."""
    top, left = ((length - side) // 2 for length in picture.shape[:2])
    return picture[top : top + side, left : left + side]
