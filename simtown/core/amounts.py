"""Bytes, seconds and numbers of things in words."""

from collections.abc import Mapping


def size(count: float) -> str:
    """Bytes, such as "850 kB", "1.2 GB" or "15 TB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if count >= 9.95 or unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1_000
    return f"{count:,.0f} TB" if count >= 9.95 else f"{count:.1f} TB"


def duration(seconds: float) -> str:
    """Such as "50 s", "12 min", "3.5 h" or "3 days"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} days"


def counted(count: int, noun: str) -> str:
    """Such as "no problems", "1 problem" or "2,000 problems"."""
    return f"{f'{count:,}' if count else 'no'} {noun}{'' if count == 1 else 's'}"


def split_counts(counts: Mapping[str, int]) -> str:
    """Such as "8 train + 1 test examples" or "1 train example"."""
    listed = " + ".join(f"{count:,} {split}" for split, count in counts.items())
    return f"{listed} example{'' if sum(counts.values()) == 1 else 's'}"
