"""A cache of the values that were used last, within a limit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def one(value: Any) -> int:
    """The weight of a value if the number of values is limited."""
    return 1


def nbytes(value: Any) -> int:
    """The weight of an array if memory is limited."""
    return int(value.nbytes)


class LRUCache(Generic[Key, Value]):
    """Values by key, made on demand. It keeps the values used last, up to a limit of their total weight.

    A copy in another process is empty at first. Threads may share a cache.

    Args:
        limit: of the total weight; a heavier value is kept alone.
        weigh: a value's weight.
    """

    def __init__(self, limit: int, weigh: Callable[[Value], int] = one) -> None:
        self._limit, self._weigh, self._weight = limit, weigh, 0
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> Any:
        return LRUCache, (self._limit, self._weigh)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key; `make` makes it if the cache does not have it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._weight += self._weigh(value)
            while self._weight > self._limit and len(self._values) > 1:
                self._weight -= self._weigh(self._values.popitem(last=False)[1])
        return value

    def drop(self, key: Key) -> None:
        """Forget the value of a key, if there is one."""
        with self._lock:
            if key in self._values:
                self._weight -= self._weigh(self._values.pop(key))
