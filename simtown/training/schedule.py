"""Which cell of a sweep runs next.

An adaptive sweep searches one curve after the other, the first target first. The searches of one model follow
one another, since each begins where the one before it ended; those of different models do not wait for each
other. What runs next depends only on the finished cells, so a sweep that was stopped continues with the cells
that it would have run anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simtown.complexity import size_search
from simtown.training.plan import SizeCurve, SweepCell, SweepPlan


class Schedule:
    """The cells of a plan in the order in which they begin.

    Args:
        accuracy: test accuracy of the cells that are done, by name.
    """

    def __init__(self, plan: SweepPlan, accuracy: Mapping[str, float]) -> None:
        self.plan = plan
        self._accuracy = dict(accuracy)
        self._taken: set[str] = set()
        self._failed: set[str] = set()

    def take(self) -> SweepCell | None:
        """A cell to run now; None while there is none, which may change when a running one ends."""
        cell = next(self._ready(), None)
        if cell is not None:
            self._taken.add(cell.name)
        return cell

    def ended(self, cell: SweepCell, accuracy: float | None) -> None:
        """A cell ended with this test accuracy; None: it failed, and is not tried again by this schedule."""
        if accuracy is None:
            self._failed.add(cell.name)
        else:
            self._accuracy[cell.name] = accuracy

    def _ready(self) -> Iterator[SweepCell]:
        groups = (
            (cells for _, _, cells in self.open_searches())
            if self.plan.targets
            else iter([self._unfinished(self.plan.cells)])
        )
        return (cell for cells in groups for cell in cells if cell.name not in self._taken)

    def _unfinished(self, cells: list[SweepCell]) -> list[SweepCell]:
        return [cell for cell in cells if cell.name not in self._accuracy and cell.name not in self._failed]

    def open_searches(self) -> Iterator[tuple[float, SizeCurve, list[SweepCell]]]:
        """Of every model the first search that needs more runs: target, curve, and these runs.

        A search that waits for a run that failed is passed over.
        """
        busy: set[str] = set()
        for target, curve in self.searches():
            if curve.model in busy:
                continue
            size = self.next_size(target, curve)
            if size is not None and (cells := self._unfinished(curve.sizes[size])):
                busy.add(curve.model)
                yield target, curve, cells

    def searches(self) -> Iterator[tuple[float, SizeCurve]]:
        """All searches in their order."""
        return ((target, curve) for target in self.plan.targets for curve in self.plan.curves)

    def accuracies(self, curve: SizeCurve, all_seeds: bool = True) -> dict[int, float]:
        """Mean accuracy of a curve by size, over all seeds, or over those that are done.

        Sizes with too few runs are left out.
        """
        result = {}
        for size, cells in curve.sizes.items():
            accuracies = [self._accuracy[cell.name] for cell in cells if cell.name in self._accuracy]
            if accuracies and (len(accuracies) == len(cells) or not all_seeds):
                result[size] = sum(accuracies) / len(accuracies)
        return result

    def next_size(self, target: float, curve: SizeCurve) -> int | None:
        """The size that a search needs next, None if it is over."""
        known = self.accuracies(curve)
        first = size_search.FIRST if known else self._first(target, curve)
        return size_search.next_size(list(curve.sizes), known, target, first)

    def _first(self, target: float, curve: SizeCurve) -> float:
        """Where a search begins: where some seeds have been, or where the model's other worlds tell it to."""
        if (estimate := size_search.need(self.accuracies(curve, all_seeds=False), target)) is not None:
            return estimate
        needs = {
            (other.entities, other.distractor): need
            for other in self.plan.curves
            if other.model == curve.model
            and (need := size_search.need(self.accuracies(other), target)) is not None
        }
        return size_search.first_size(curve.entities, curve.distractor, needs)

    def over(self) -> int:
        """Searches that need no more runs."""
        return sum(self.next_size(target, curve) is None for target, curve in self.searches())

    def describe(self, target: float, curve: SizeCurve) -> str:
        """A search in words, such as "pbn, 15 entities, 90 %: between 1,400 (0.881) and 2,000 (0.915)"."""
        known, size = self.accuracies(curve), self.next_size(target, curve)
        low, high = size_search.crossing(known, target)

        def at(n: int) -> str:
            return f"{n:,} ({known[n]:.3f})"

        if low is not None and high is not None:
            words = f"between {at(low)} and {at(high)}"
        elif low is not None:
            words = f"more than {at(low)}"
        else:
            words = f"at most {at(high)}" if high is not None else "nothing known yet"
        return f"{curve.name}, {target:.4g}: {words}" + (
            f", next {size:,}" if known and size is not None else ""
        )
