"""A cache of the values that were used last, within a limit."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class LRUCache(Generic[Key, Value]):
    """Values by key, made on demand. It keeps the values used last, up to a limit.

    That is a limit of their number, or of their `nbytes` if `in_bytes`; a larger value is kept alone. A copy
    in another process is empty at first. Threads may share a cache.
    """

    def __init__(self, limit: int, in_bytes: bool = False) -> None:
        self._limit, self._in_bytes, self._weight = limit, in_bytes, 0
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> Any:
        return LRUCache, (self._limit, self._in_bytes)

    def _weigh(self, value: Any) -> int:
        return int(value.nbytes) if self._in_bytes else 1

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
