"""Which cell of a sweep runs next.

An adaptive sweep searches one curve after the other, the first target first. The searches of one model follow
one another, since each begins where the one before it ended; those of different models do not wait for each
other. What runs next depends only on the finished cells, so a sweep that was stopped continues with the cells
that it would have run anyway.
"""

from collections.abc import Iterator, Mapping
from itertools import product

from simtown.complexity import size_search
from simtown.training.plan import SizeCurve, SweepCell, SweepPlan


class Schedule(Iterator[SweepCell]):
    """The cells of a plan in the order in which they begin.

    It may have no cell to run now, and one again when a running cell has ended.

    Args:
        accuracy: test accuracy of the cells that are done, by name.
    """

    def __init__(self, plan: SweepPlan, accuracy: Mapping[str, float]) -> None:
        self.plan = plan
        self._accuracy: dict[str, float | None] = dict(accuracy)
        self._taken: set[str] = set()
        self._open = self._open_in_words()

    def __next__(self) -> SweepCell:
        groups = (cells for _, _, cells in self.open_searches()) if self.plan.targets else [self.plan.cells]
        cell = next(cell for cells in groups for cell in self._left(cells) if cell.name not in self._taken)
        self._taken.add(cell.name)
        return cell

    def ended(self, cell: SweepCell, accuracy: float | None) -> None:
        """A cell ended with this test accuracy; None: it failed, and is not tried again by this schedule."""
        self._accuracy[cell.name] = accuracy

    def _left(self, cells: list[SweepCell]) -> list[SweepCell]:
        """The cells that have not ended."""
        return [cell for cell in cells if cell.name not in self._accuracy]

    def open_searches(self) -> Iterator[tuple[float, SizeCurve, list[SweepCell]]]:
        """For every model, the first search that needs more runs: target, curve, and these runs.

        A search that waits for a run that failed is passed over.
        """
        busy: set[str] = set()
        for target, curve in self.searches():
            if curve.model in busy:
                continue
            size = self.next_size(target, curve)
            if size is not None and (cells := self._left(curve.sizes[size])):
                busy.add(curve.model)
                yield target, curve, cells

    def searches(self) -> Iterator[tuple[float, SizeCurve]]:
        """All searches in their order."""
        return product(self.plan.targets, self.plan.curves)

    def accuracies(self, curve: SizeCurve, all_seeds: bool = True) -> dict[int, float]:
        """Mean accuracy of a curve by size, over all seeds, or over those that are done.

        Sizes with too few runs are left out.
        """
        result = {}
        for size, cells in curve.sizes.items():
            ended = [self._accuracy.get(cell.name) for cell in cells]
            known = [accuracy for accuracy in ended if accuracy is not None]
            if known and (len(known) == len(cells) or not all_seeds):
                result[size] = sum(known) / len(known)
        return result

    def next_size(self, target: float, curve: SizeCurve) -> int | None:
        """The size that a search needs next, None if it is over."""
        known = self.accuracies(curve)
        first = size_search.FIRST if known else self._first(target, curve)
        return size_search.next_size(list(curve.sizes), known, target, first)

    def _first(self, target: float, curve: SizeCurve) -> float:
        """The start of a search: where some seeds have been, or where the model's other worlds tell it to."""
        if (estimate := size_search.need(self.accuracies(curve, all_seeds=False), target)) is not None:
            return estimate
        needs = {}
        for other in self.plan.curves:
            need = size_search.need(self.accuracies(other), target)
            if other.model == curve.model and need is not None:
                needs[other.entities, other.distractor] = need
        return size_search.first_size(curve.entities, curve.distractor, needs)

    def describe(self, target: float, curve: SizeCurve) -> str:
        """A search in words, such as "pbn, 15 entities, 90 %: between 1,400 (0.881) and 2,000 (0.915)"."""
        known, size = self.accuracies(curve), self.next_size(target, curve)
        low, high = size_search.crossing(known, target)
        words = "nothing known yet"
        if low is not None:
            words = f"more than {low:,} ({known[low]:.3f})"
        if high is not None:
            words = f"at most {high:,} ({known[high]:.3f})"
        if low is not None and high is not None:
            words = f"between {low:,} ({known[low]:.3f}) and {high:,} ({known[high]:.3f})"
        following = f", next {size:,}" if known and size is not None else ""
        return f"{curve.name}, {target:.4g}: {words}{following}"

    def news(self) -> Iterator[str]:
        """The searches that have come nearer to their ends since the last time, in words."""
        before, self._open = self._open, self._open_in_words()
        for (target, curve), line in before.items():
            now = self.describe(target, curve)
            if (target, curve) not in self._open:
                over = [self.next_size(*search) is None for search in self.searches()]
                now += f"; {sum(over)} of {len(over)} searches are over"
            if now != line:
                yield now

    def _open_in_words(self) -> dict[tuple[float, SizeCurve], str]:
        return {(target, curve): self.describe(target, curve) for target, curve, _ in self.open_searches()}
