"""Records of Visual Genome's released files, in one form whatever the release (1.0, 1.2, 1.4).

:class:`simtown.visualgenome.stream.Records` reads them.

======================== ======================= ============================================================
file                     a record is             where the releases differ
======================== ======================= ============================================================
relationships.json       :class:`Graph`          1.0 numbers things by "id"; an end has "name" or "names"
scene_graphs.json        :class:`Graph`          ends are numbers of objects in the same record
objects.json             :class:`Objects`        1.4 merged objects: "merged_object_ids"
attributes.json          :class:`Attributes`     1.0 says "object_names"; "attributes" may be missing
region_descriptions.json :class:`Regions`        1.0 says "id" and "image" for "region_id" and "image_id"
question_answers.json    :class:`ImageQuestions` 1.0 says "id" for "qa_id"
image_data.json          :class:`ImageData`      1.0 says "id" for "image_id"
======================== ======================= ============================================================

Only what is used is read. Boxes are x, y, w, h in pixels, y downwards, as released: some reach over the
picture's edge.
"""

from collections.abc import Iterator

import msgspec

_Names = list[str] | str | None


def _first(*choices: _Names) -> str:
    for choice in choices:
        if choice:
            return choice if isinstance(choice, str) else choice[0]
    return ""


class ImageObject(msgspec.Struct, gc=False):
    """An object: `number`, `text` (its first name, or ""), and its box x, y, w, h in pixels."""

    object_id: int = -1
    id: int = -1
    names: _Names = None
    name: _Names = None
    object_names: _Names = None
    x: float = 0.0
    y: float = 0.0
    w: float = 0.0
    h: float = 0.0
    merged_object_ids: list[int] | None = None
    attributes: list[str] | None = None

    @property
    def number(self) -> int:
        """Its number in its release, -1 if it has none."""
        return self.object_id if self.object_id >= 0 else self.id

    @property
    def text(self) -> str:
        """Its first name as the annotator wrote it, "" if it has none."""
        names = self.names  # the common case first: this runs millions of times
        return names[0] if type(names) is list and names else _first(names, self.name, self.object_names)


class Relationship(msgspec.Struct, gc=False):
    """A relationship as stored: its ends are things, or numbers of things in the same record."""

    predicate: str
    relationship_id: int = -1
    id: int = -1
    subject: ImageObject | None = None
    object: ImageObject | None = None
    subject_id: int = -1
    object_id: int = -1

    @property
    def number(self) -> int:
        """Its number in its release, -1 if it has none."""
        return self.relationship_id if self.relationship_id >= 0 else self.id


class _Image(msgspec.Struct, gc=False):
    image_id: int = -1
    id: int = -1

    @property
    def image(self) -> int:
        """The image's number, -1 if the record has none."""
        return self.image_id if self.image_id >= 0 else self.id


class Graph(_Image, kw_only=True, gc=False):
    """Relationships of an image, from relationships.json or scene_graphs.json."""

    relationships: list[Relationship]
    objects: list[ImageObject] | None = None

    def statements(self) -> Iterator[tuple[Relationship, ImageObject, ImageObject]]:
        """Relationships that have both ends in the record; the official reader leaves others out, too."""
        things: dict[int, ImageObject] | None = None
        for relation in self.relationships:
            subject, obj = relation.subject, relation.object
            if subject is None or obj is None:
                if things is None:
                    things = self._things()
                subject = subject or things.get(relation.subject_id)
                obj = obj or things.get(relation.object_id)
                if subject is None or obj is None:
                    continue
            yield relation, subject, obj

    def _things(self) -> dict[int, ImageObject]:
        own = self.objects or []
        merged = {number: thing for thing in own for number in thing.merged_object_ids or ()}
        return merged | {thing.number: thing for thing in own}


class Objects(_Image, kw_only=True, gc=False):
    """Everything that is marked in an image, from objects.json; scene_graphs.json is read as this too."""

    objects: list[ImageObject]


class Attributes(_Image, kw_only=True, gc=False):
    """Things with what is said of each, from attributes.json."""

    attributes: list[ImageObject]


class Region(msgspec.Struct, gc=False):
    """A phrase about a part of an image."""

    phrase: str


class Regions(_Image, kw_only=True, gc=False):
    """Phrases of an image, from region_descriptions.json."""

    regions: list[Region]


class ImageQuestion(msgspec.Struct, gc=False):
    """A question about an image."""

    question: str


class ImageQuestions(_Image, kw_only=True, gc=False):
    """Questions about an image, from question_answers.json."""

    qas: list[ImageQuestion]


class ImageData(_Image, kw_only=True, gc=False):
    """Size in pixels of an image, from image_data.json."""

    width: int
    height: int
