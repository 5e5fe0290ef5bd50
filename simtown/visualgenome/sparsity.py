"""How thinly Visual Genome covers even simple spatial relations (section 6.2, Figure 11)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from simtown.core.files import save_text
from simtown.core.plots import AXIS, INK, new_figure, save_figure
from simtown.core.tables import Table
from simtown.core.untrusted import figure_text
from simtown.visualgenome import prepare, published
from simtown.visualgenome.clean import Cleaner, summed, word_counts
from simtown.visualgenome.clean_settings import STEPS
from simtown.visualgenome.records import ImageObject, Relationship
from simtown.visualgenome.stream import Records

#: What the paper's example is about: 1 giraffe left of a person, 8 persons left of a giraffe.
EXAMPLE = ("giraffe", "person")


@dataclass(frozen=True)
class Sparsity:
    """Counts over the n most frequent entities, most frequent first.

    Attributes:
        names: (n,).
        boxes: (n,) int64, how many are marked.
        images: how many images have any thing marked.
        together: (n, n) int64, symmetric: images in which both occur; on the diagonal, in which two or more
            of it do.
        left: (n, n) int64: pairs of boxes in one image, the first of the row's entity with its centre left of
            the second's.
        apart: the same, the first ending before the second.
        bad: records passed over.
    """

    names: tuple[str, ...]
    boxes: np.ndarray
    images: int
    together: np.ndarray
    left: np.ndarray
    apart: np.ndarray
    bad: int = 0

    def empty(self) -> float:
        """Share of unordered pairs of different entities that never occur in the same image."""
        return _share(self.together[np.triu_indices(len(self.names), 1)] == 0)

    def empty_left(self) -> float:
        """Share of ordered pairs of different entities of which the first never stands left of the second."""
        return _share(self.left[~np.eye(len(self.names), dtype=bool)] == 0)

    def lopsided(self, least: int = 9) -> list[tuple[str, str, int, int]]:
        """(a, b, a left of b, b left of a) of pairs counted at least `least` times, the most lopsided first.

        The measure is (b left of a + 1) / (a left of b + 1): without the ones, every pair never seen in one
        order would be as lopsided as any other. Least is 9 by default: the paper's example of 1 against 8.
        """
        rows = []
        for i, j in permutations(range(len(self.names)), 2):
            few, many = int(self.left[i, j]), int(self.left[j, i])
            if few < many and few + many >= least:
                rows.append((self.names[i], self.names[j], few, many))
        return sorted(rows, key=lambda row: (-(row[3] + 1) / (row[2] + 1), -row[3], row))

    def pair(self, a: str, b: str) -> tuple[int, int] | None:
        """(a left of b, b left of a), or None if one is not among the names."""
        if a not in self.names or b not in self.names:
            return None
        i, j = self.names.index(a), self.names.index(b)
        return int(self.left[i, j]), int(self.left[j, i])


def _share(empty: np.ndarray) -> float:
    return float(empty.mean()) if empty.size else 0.0


class _Marked(msgspec.Struct, gc=False):
    """A record of objects.json, scene_graphs.json or relationships.json, whose ends are its things."""

    objects: list[ImageObject] | None = None
    relationships: list[Relationship] | None = None

    def things(self) -> list[ImageObject]:
        if self.objects is not None:
            return self.objects
        ends = [end for r in self.relationships or () for end in (r.subject, r.object) if end is not None]
        return _each_once(ends)


def _each_once(ends: Iterable[ImageObject]) -> list[ImageObject]:
    """The different things among ends of relationships; those without a number are all different."""
    return list({end.number if end.number >= 0 else -2 - i: end for i, end in enumerate(ends)}.values())


class ImageSource:
    """The names of things in images, and their boxes x, y, w, h in pixels, (n, 4) float64; iterated twice.

    They come from objects.json, scene_graphs.json or relationships.json in any packing, a directory made by
    simtown vg prepare, or a folder of published counts with its annotations.

    Raises:
        FileNotFoundError: a file is missing.
        DamagedError: while iterating, at a malformed record.
    """

    def __init__(
        self, path: Path, *, skip_bad: bool = False, progress: Callable[[int], object] | None = None
    ) -> None:
        self._path, self._skip, self._progress = path, skip_bad, progress
        self._is_prepared = (path / prepare.NAME).is_file()
        self._annotations = sorted(path.glob("annotations_*.json*")) if path.is_dir() else []
        if not path.is_file() and not self._is_prepared and not self._annotations:
            raise FileNotFoundError(
                f"{path} is neither a file nor a directory with {prepare.NAME} or annotations: give "
                "objects.json, or a prepared directory"
            )
        self.bad = 0
        self.size = path.stat().st_size if path.is_file() else 0

    def __iter__(self) -> Iterator[tuple[list[str], np.ndarray]]:
        read = self._prepared if self._is_prepared else self._published if self._annotations else self._file
        for things in read():
            boxes = np.array([(t.x, t.y, t.w, t.h) for t in things], dtype=np.float64)
            yield [t.text for t in things], boxes.reshape(-1, 4)

    def _file(self) -> Iterator[list[ImageObject]]:
        records = Records(self._path, _Marked, skip_bad=self._skip, progress=self._progress)
        for record in records:
            yield record.things()
        self.bad = records.bad

    def _published(self) -> Iterator[list[ImageObject]]:
        classes = published.class_names(self._path)
        for path in self._annotations:
            yield from published.marked(path, classes)

    def _prepared(self) -> Iterator[list[ImageObject]]:
        """The ends of the statements that were kept."""
        columns = ["image", "subject_id", "object_id", "subject", "object", "subject_box", "object_box"]
        table = prepare.read(self._path, prepare.TRIPLES, columns)
        edges = np.flatnonzero(np.diff(table["image"].to_numpy(), prepend=-2, append=-2)).tolist()
        for begin, end in pairwise(edges):
            yield _each_once(
                ImageObject(object_id=row[f"{role}_id"], name=row[role], x=x, y=y, w=w, h=h)
                for row in table.slice(begin, end - begin).to_pylist()
                for role in ("subject", "object")
                for x, y, w, h in [row[f"{role}_box"]]
            )


def _tally(code: np.ndarray, x: np.ndarray, w: np.ndarray, boxes: np.ndarray, pairs: np.ndarray) -> None:
    """Add one image: (m,) entities, left edges and widths; `pairs` are together, left and apart."""
    here, (together, left, apart) = np.bincount(code, minlength=len(boxes)), pairs
    kinds = np.flatnonzero(here)
    boxes += here
    together[np.ix_(kinds, kinds)] += 1
    alone = kinds[here[kinds] == 1]
    together[alone, alone] -= 1
    middle, others = x + w / 2, ~np.eye(len(code), dtype=bool)
    for counts, holds in ((left, middle[:, None] < middle), (apart, (x + w)[:, None] <= x)):
        first, second = np.nonzero(holds & others)
        np.add.at(counts, (code[first], code[second]), 1)


def sparsity(source: ImageSource, top: int = 100, steps: Iterable[str] = STEPS) -> Sparsity:
    """Count the `top` entities marked most often, then their pairs: two passes over the images.

    Names are cleaned by `steps`. Raises ValueError if top is below 2, or nothing is marked.
    """
    if top < 2:
        raise ValueError(f"top must be at least 2, not {top}")
    raw: Counter[str] = Counter()
    images = 0
    for names, _ in source:
        raw.update(names)
        images += bool(names)
    cleaner = Cleaner(tuple(steps), word_counts(raw.items()))
    counts = summed((cleaner.entity(text), count) for text, count in raw.items())
    del counts[""]
    if not counts:
        files = "objects.json, scene_graphs.json or relationships.json"
        raise ValueError(f"nothing is marked in these images: give {files}")
    chosen = sorted(counts, key=lambda name: (-counts[name], name))[:top]
    number = {name: i for i, name in enumerate(chosen)}
    code_of = {text: number.get(cleaner.entity(text), -1) for text in raw}
    n = len(chosen)
    boxes, pairs = np.zeros(n, dtype=np.int64), np.zeros((3, n, n), dtype=np.int64)
    for names, box in source:
        code = np.array([code_of[name] for name in names], dtype=np.int64)
        kept = code >= 0
        _tally(code[kept], box[kept, 0], box[kept, 2], boxes, pairs)
    together, left, apart = pairs
    return Sparsity(tuple(chosen), boxes, images, together, left, apart, source.bad)


def write_tables(sparsity: Sparsity, path: Path) -> None:
    """Write a CSV table with a row for each ordered pair of different entities."""
    names, counts = sparsity.names, (sparsity.together, sparsity.left, sparsity.apart)
    ordered = permutations(range(len(names)), 2)
    rows = [(names[i], names[j], *(int(count[i, j]) for count in counts)) for i, j in ordered]
    save_text(path, Table(("a", "b", "images", "a_left_of_b", "a_apart_left_of_b"), rows).csv())


def heatmap(sparsity: Sparsity, path: Path) -> None:
    """Draw Figure 11: images in which two entities occur together, on a logarithmic grey scale.

    Of many entities every fourth is named.
    """
    from matplotlib.colors import LogNorm

    n = len(sparsity.names)
    side = max(5.0, 1.5 + 0.075 * n)
    figure = new_figure(side + 1.0, side + 0.6)
    axes: Any = figure.add_subplot()
    visible = np.ma.masked_equal(sparsity.together, 0)  # empty cells stay white
    scale = LogNorm(0.15, max(int(sparsity.together.max()), 2))
    picture = axes.imshow(visible, cmap="Greys", norm=scale, interpolation="nearest")
    step, size = (4, 10) if n > 40 else (1, 8)
    places, names = range(0, n, step), [figure_text(name) for name in sparsity.names[::step]]
    axes.set_xticks(places, names, rotation=90, fontsize=size)
    axes.set_yticks(places, names, fontsize=size)
    axes.tick_params(length=0, pad=1.5, colors=INK)
    axes.spines[:].set_color(AXIS)
    title = f"In how many of {sparsity.images:,} images two of the {n} most frequent entities occur together"
    never = f"{sparsity.empty():.1%} of the pairs never do (white)" + "; every fourth is named" * (n > 40)
    axes.set_title(f"{title}\n{never}", fontsize=10, color=INK, pad=10)
    bar = figure.colorbar(picture, ax=axes, shrink=0.5, pad=0.01)
    bar.set_label("images; on the diagonal, images with two or more of it", fontsize=8, color=INK)
    bar.ax.tick_params(labelsize=7)
    bar.ax.set_ylim(1, None)  # the scale begins lower, so that one image is told from none
    bar.outline.set_visible(False)
    save_figure(figure, path)
