"""Settings dataclasses that say which values they take."""

import pickle
from dataclasses import dataclass

import pytest

from simtown.core.options import SettingsError, check, option, options_of


@dataclass(frozen=True)
class Example:
    """Settings with every kind of limit."""

    name: str = option(help="A name.")
    batch: int = option(128, "Examples in each step.", low=1)
    n: int = option(2, "Examples.", low=2, even=True)
    shift: float = option(0.0, "Metres.", low=0, high=1)
    rate: float = option(1e-3, "Learning rate.", above=0, below=10, flag="lr")
    style: str = option("paper", "Phrasing.", choices=("paper", "varied"))
    weathers: tuple[str, ...] = option(("fog",), "Weathers.", choices=("fog", "rain"), low=1)
    limit: int | None = option(None, "At most.", low=1)
    inner: int = 0


def test_the_defaults_are_possible():
    check(Example("a"))
    assert "inner" not in options_of(Example)
    assert options_of(Example)["rate"][1].flag == "lr"


#: {setting: {a value that it may not have: what the error says}}
REFUSED = {
    "batch": {0: "at least 1, not 0"},
    "n": {0: "even number of at least 2", 3: "even number"},
    "shift": {1.5: "from 0 to 1", float("nan"): "not nan"},
    "rate": {0: "above 0 and below 10", 10: "above 0 and below 10"},
    "style": {"loud": "paper, varied"},
    "weathers": {("fog", "hail"): "hail", (): "nothing"},
    "limit": {0: "at least 1"},
}
CASES = [(setting, *case) for setting, cases in REFUSED.items() for case in cases.items()]


@pytest.mark.parametrize(("setting", "value", "words"), CASES)
def test_an_impossible_value_is_refused_by_name(setting, value, words):
    with pytest.raises(SettingsError, match=f"^{setting} .*{words}") as refused:
        check(Example("a", **{setting: value}))
    assert refused.value.setting == setting
    copy = pickle.loads(pickle.dumps(refused.value))
    assert (str(copy), copy.setting) == (str(refused.value), setting)
