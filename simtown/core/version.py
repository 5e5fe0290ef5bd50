"""The version of simtown. pyproject.toml reads it from here."""

__version__ = "0.1.0.dev0"


def versions(*libraries: str) -> dict[str, str]:
    """The installed version of each library, "unknown" if it has none."""
    from importlib.metadata import PackageNotFoundError, version

    result = {}
    for name in libraries:
        try:
            result[name] = version(name)
        except PackageNotFoundError:
            result[name] = "unknown"
    return result
