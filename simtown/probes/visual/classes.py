"""What can be said of a thing: colour, shape and material by class (Table 7), and sizes (Table 8)."""

from typing import NamedTuple


class VisualRelation(NamedTuple):
    """A relation between a noun and one of a few classes.

    Attributes:
        name: "color", "shape", "material".
        words: {class: the words that count for it, itself first}, in the alphabet's order.
        threshold: a noun's count of a class at or below this is noise, and taken for zero (section 3.1).
    """

    name: str
    words: dict[str, tuple[str, ...]]
    threshold: int

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.words)

    def class_of(self) -> dict[str, int]:
        """{word: number of its class}."""
        return {word: i for i, words in enumerate(self.words.values()) for word in words}


def _relation(name: str, threshold: int, table: str) -> VisualRelation:
    """From "class (word, word); class"."""
    words = {}
    for entry in table.split(";"):
        head, _, more = entry.strip().partition(" (")
        words[head] = (head, *(w.strip() for w in more.rstrip(")").split(",") if w.strip()))
    return VisualRelation(name, words, threshold)


COLOR = _relation(
    "color",
    5,
    "black; blue (aqua, azure, cyan, indigo, navy); brown (khaki, tan); gray (grey); green (turquoise); "
    "orange (amber); pink (magenta); purple (lavender, violet); red (burgundy, crimson, maroon, scarlet); "
    "silver; white (beige); yellow (blond, gold, golden)",
)
SHAPE = _relation(
    "shape",
    1,
    "cross; heart; octagon; oval; polygon (heptagon, hexagon, pentagon); rectangle; rhombus (diamond); "
    "round (circle); semicircle; square; star; triangle",
)
MATERIAL = _relation(
    "material",
    2,
    "bronze (copper); ceramic; cloth; concrete; cotton; denim; glass; gold; iron; jade; leather; metal; "
    "paper; plastic; rubber; stone (cobblestone, slate); tin (pewter); wood (wooden)",
)
RELATIONS = {relation.name: relation for relation in (COLOR, SHAPE, MATERIAL)}
#: Two things that are seen together at most this often are not said to co-occur.
COOCCURRENCE_THRESHOLD = 8

#: Sizes from the smallest, and the nouns of each.
_NOUNS = {
    "tiny": "ant leaf earring candle lip ear eye nose pebble shrimp pendant spoon dirt pill bee",
    "small": "bird tomato pizza purse bowl cup mug tape plate potato bottle faucet pot knob dish book laptop "
    "menu flower pillow clock teapot lobster duck balloon helmet hand face lemon microphone foot towel shoe",
    "medium": "human door dog cat window lamp chair tire tv table desk sink guitar bicycle umbrella printer "
    "scooter pumpkin monitor bag coat vase deer horse kite",
    "large": "elephant car tree suv pillar stairway bed minivan fireplace bus boat cheetah wall balcony "
    "bear lion",
    "huge": "building airplane plane clocktower tower earth pool mountain sky road house hotel tank town "
    "city dinosaur whale school",
}
SIZES: dict[str, tuple[str, ...]] = {size: tuple(nouns.split()) for size, nouns in _NOUNS.items()}

#: Sentences for data that we mined, section 3.3's kind: [X] the subject, [Y] what is asked. The release has
#: its own.
TEMPLATES: dict[str, tuple[str, ...]] = {
    name: tuple(f"{sentence} ." for sentence in sentences.split(" . "))
    for name, sentences in {
        "color": "[X] can be of color [Y] . the color of a [X] is [Y] . a [X] is usually [Y] . "
        "there is a [Y] [X] . the [X] is [Y]",
        "shape": "[X] has shape [Y] . the shape of a [X] is [Y] . a [X] is usually a [Y] . "
        "there is a [Y] [X]",
        "material": "[X] is made of [Y] . the material of a [X] is [Y] . a [X] is usually made of [Y] . "
        "there is a [Y] [X]",
        "cooccurrence": "[X] co-occurs with [Y] . a [X] is often seen with a [Y] . "
        "there is a [X] beside a [Y] . a [X] and a [Y]",
        "size_larger": "[X] is larger than [Y] . a [X] is bigger than a [Y] . [Y] is smaller than [X]",
        "size_smaller": "[X] is smaller than [Y] . a [X] is not as big as a [Y] . [Y] is larger than [X]",
    }.items()
}
