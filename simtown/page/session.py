"""A town that is played with: its verbs, undo, and answers that follow it."""

from __future__ import annotations

import json
import math
import pickle
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import suppress
from copy import copy
from dataclasses import asdict, replace
from functools import cache
from itertools import chain, combinations, islice
from pathlib import Path
from shutil import make_archive
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np

from simtown.core.untrusted import cause
from simtown.language.meaning.limits import LANE_EDGE
from simtown.language.meaning.programs import Form
from simtown.language.words.grammar import QuestionError
from simtown.page.overlays import PLANE, encoded, overlaid, silhouettes
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch
from simtown.town import saving
from simtown.town.answering import TownAnswer, answer, direct_answer, examples
from simtown.town.checks import INTENSITY, TownError, number
from simtown.town.evaluating import Evaluator
from simtown.town.qualities import TooCloseError, View
from simtown.town.relating import MARGINS
from simtown.town.snapshot import Frame
from simtown.town.things import Thing, label, paintable, the
from simtown.town.town import Town

#: How many steps can be undone, questions are kept, and questions are offered.
UNDOS, QUESTIONS, OFFERS = 200, 40, 6
#: The length of the street's film, seconds, and how fast vehicles drive off, metres a second.
SECONDS, SPEED = 4.0, 4.0
#: The most bytes of a link's content.
_LINK = 1_000_000
#: What the page needs of a thing, beside what follows from it.
_SHOWN = ("name", "kind", "group", "x", "y", "z", "yaw", "front", "high", "paint", "pace")


class Session:
    """One town, its past, and the questions that are asked about it.

    Args:
        town: what is played with; it changes in place.
        run: gives a trained model's answer beside the truth, if there is one.
    """

    def __init__(self, town: Town, run: Any = None) -> None:
        self.town, self.run, self.second = town, run, 0.0
        self.asked: list[str] = []
        self._past: list[bytes] = []
        self._future: list[bytes] = []
        self._gesture: object = None
        self._filmed: tuple[bytes, Any] = b"", None
        seen = [t for t in town.vehicles if t.name in town.seen()]
        if pairs := list(combinations(seen, 2)):  # in two lanes, one can drive past the other
            a, b = max(pairs, key=lambda pair: abs(pair[0].y - pair[1].y))
            self.asked.append(f"Is {self.called(a)} left of {self.called(b)}?")

    def called(self, thing: Thing) -> str:
        """The words of a question that mean this thing and no other."""
        return the(thing if sum(t.kind == thing.kind for t in self.town.things) == 1 else label(thing))

    # Verbs

    def do(self, verb: str, given: dict[str, Any], gesture: object = None) -> None:
        """Change the town or the questions.

        Args:
            verb: "place", "change", "move", "turn", "remove", "drive", "weather", "light", "camera",
                "street", "empty", "load", "link", "undo", "redo", "ask", "forget", or "second", that of the
                film, which is 0 after every change.
            given: its arguments, as those of the :class:`simtown.Town`'s method; "load" takes the text of a
                saved town.
            gesture: verbs of one gesture, such as a drag, are undone together.

        Raises:
            TownError: the town cannot do this, and is as it was.
            NoAnswerError: a question has no answer.
        """
        if verb in ("undo", "redo"):
            self._back(*(self._past, self._future) if verb == "undo" else (self._future, self._past))
        elif verb == "ask":
            self.ask(given.get("question"))
        elif verb == "forget":
            self.asked = [q for q in self.asked if q != given.get("question")]
        elif verb == "second":
            self.second = number(given.get("second"), "the second", 0.0, SECONDS)
        elif verb == "link":
            self._follow(given.get("link"))
        else:
            before = pickle.dumps(self.town)
            self._apply(verb, given)
            if gesture is None or gesture != self._gesture:
                self._past = [*self._past[1 - UNDOS :], before]
            self._future, self._gesture, self.second = [], gesture, 0.0

    def _apply(self, verb: str, given: dict[str, Any]) -> None:
        town = self.town
        given = {k: round(v, 3) if isinstance(v, float) else v for k, v in given.items()}
        try:
            match verb:
                case "change" | "move" | "turn" | "remove":
                    getattr(town, verb)(*given.pop("things", ()), **given)
                case "weather":
                    town.weather = given["kind"], given.get("intensity", INTENSITY)
                case "light":
                    town.light = given["azimuth"], given["elevation"]
                case "camera":
                    town.camera = given.get("preset") or replace(town.camera, **given)
                case "place":
                    self._place(given)
                case "drive":
                    self._drive(**given)
                case "street":
                    town.become(Town.random(**given))
                case "empty":
                    town.become(Town())
                case "load":
                    town.become(saving.decode(Town, given["town"]))
                case _:
                    raise TownError(f"there is no verb '{verb}'")
        except (KeyError, TypeError) as error:
            raise TownError(f"'{verb}' cannot be read: {cause(error)}") from error

    def _drive(self, thing: str = "", speed: float = SPEED) -> None:
        """Let a vehicle drive, or all in the lanes; nothing changes if one would run into something."""
        town = self.town
        lanes = [t for t in town.vehicles if abs(t.y) < LANE_EDGE]
        before = pickle.dumps(town)
        try:
            for vehicle in [town[thing]] if thing else lanes:
                town.drive(vehicle, speed)
            town.film(SECONDS)
        except TownError:
            town.become(pickle.loads(before))
            raise

    def _place(self, given: dict[str, Any]) -> None:
        thing = self.town.place(**given)
        if thing.group == "vehicle" and (given.get("y") or 0.0) > 0 and "yaw" not in given:
            self.town.change(thing, yaw=math.pi)  # it stands in the far lane
        with suppress(TownError):  # round numbers are easier to read, if they fit
            self.town.change(thing, x=round(thing.x, 2), y=round(thing.y, 2), z=round(thing.z, 3))

    def _back(self, source: list[bytes], target: list[bytes]) -> None:
        if source:
            target.append(pickle.dumps(self.town))
            self.town.become(pickle.loads(source.pop()))
            self._gesture, self.second = None, 0.0

    def ask(self, question: Any) -> None:
        """Put a question on top of the list. Raises NoAnswerError if it has no answer."""
        answer(self._view(self._now()), question)
        self.asked = [*(q for q in self.asked if q != question), question][-QUESTIONS:]

    # What is taken away

    def python(self) -> str:
        """The Python program that makes this town and asks these questions."""
        questions = [f"print(town.ask({question!r}))\n" for question in self.asked]
        return "".join([self.town.program().rstrip(), "\n", *questions])

    def link(self) -> str:
        """The town and the questions as the end of an address."""
        content = b"[%s,%s]" % (saving.encode(self.town), json.dumps(self.asked).encode())
        return urlsafe_b64encode(zlib.compress(content, 9)).decode().rstrip("=")

    def copy(self) -> Session:
        """A session with a town of its own, which may be filmed while this one is played with."""
        other = copy(self)
        other.town = pickle.loads(pickle.dumps(self.town))
        return other

    def file(self, name: str) -> bytes | None:
        """The content of a file of the town: street.png, .glb, .mp4, .py, town.json or examples.zip."""
        town = self.town
        with TemporaryDirectory() as folder:
            path = Path(folder, name)
            match name:
                case "street.png":
                    town.render((1920, 1080)).save(path)
                case "street.glb":
                    from simtown.datasets.showing.export_scene import glb  # trimesh takes a second

                    path.write_bytes(glb(SceneBatch.of([town.to_scene((1920, 1080))])))
                case "street.mp4":
                    town.film(SECONDS, 101, (640, 360)).save(path)
                case "street.py":
                    path.write_text(self.python(), encoding="utf-8")
                case "town.json":
                    town.save(path)
                case "examples.zip":
                    from simtown.datasets.making.hand_made import write_dataset

                    write_dataset(self._examples(10), Path(folder, "examples"))
                    make_archive(str(path.with_suffix("")), "zip", folder, "examples")
                case _:
                    return None
            return path.read_bytes()

    def _examples(self, most: int) -> list[Any]:
        """Examples of questions that a data set can ask: those of the log, then others of this street."""
        found: list[Any] = []
        for question in chain(self.asked, (a.question for a in examples(self.town.view()))):
            with suppress(TownError):  # of what a data set does not ask about
                found.append(self.town.example(question))
            if len(found) == most:
                break
        return found

    def _follow(self, link: Any) -> None:
        try:
            packed = urlsafe_b64decode(link + "=" * (-len(link) % 4))
            content = zlib.decompressobj().decompress(packed, _LINK)
            town, asked = msgspec.json.decode(content, type=tuple[msgspec.Raw, list[str]])
        except (ValueError, zlib.error, TypeError, RecursionError) as error:
            raise TownError("the link cannot be followed: it is cut or changed") from error
        self.do("load", {"town": town})
        self.asked = asked[-QUESTIONS:]

    # What the page shows

    def look(self, size: tuple[int, int], overlay: str = "", moving: bool = False) -> dict[str, Any]:
        """The picture, the town and the answers; offered questions and programs only if nothing moves.

        Args:
            size: of the picture, pixels.
            overlay: "masks", "depth" or "".
            moving: whether the next picture follows at once.
        """
        now = self._now()
        frame = now.render(size)
        view = self._view(now, frame if moving else None)
        shown: dict[str, Any] = {
            "picture": encoded(overlaid(frame, overlay), 80 if moving else 93),
            "town": self._state(now, frame),
            "answers": [self._reply(view, question) for question in reversed(self.asked)],
        }
        if not moving:
            offered = (a.question for a in examples(view))
            offers = list(islice((q for q in offered if q not in self.asked), OFFERS))
            shown |= {"offers": offers, "link": self.link(), "python": self.python()}
            shown["describe"] = now.describe()
        return shown

    def _now(self) -> Town:
        """The town at the second that is shown."""
        return self.town.at(self.second) if self.second else self.town

    def _view(self, now: Town, frame: Frame | None = None) -> View:
        """The town now, and all of its film."""
        state = pickle.dumps(self.town)
        if state != self._filmed[0]:
            self._filmed = state, self.town.view().deeds
        view = now.view()._replace(deeds=self._filmed[1])
        return view._replace(seen=cache(frame.seen)) if frame else view

    def _state(self, town: Town, frame: Frame) -> dict[str, Any]:
        outlines = silhouettes(frame)
        things = [
            {name: getattr(t, name) for name in _SHOWN}
            | {
                "paintable": paintable(t.kind),
                "called": self.called(t),
                "outline": t.outline.round(3).tolist(),
            }
            | outlines.get(t.name, {})
            for t in town.things
        ]
        return {
            "things": things,
            "weather": asdict(town.weather),
            "camera": asdict(town.camera),
            "view": views(town.to_scene(PLANE).camera.row()[None], *PLANE)[0].tolist(),
            "undo": len(self._past),
            "redo": len(self._future),
            "run": getattr(self.run, "name", None),
            "drives": self.town.drives,
            "second": self.second,
            "seconds": SECONDS,
        }

    def _reply(self, view: View, question: str) -> dict[str, Any]:
        """A line of the log."""
        try:
            reply = direct_answer(view, question)
        except (TownError, QuestionError) as error:
            return {"question": question, "verdict": "none", "why": str(error)}
        verdict = "value" if reply.truth is None else "yes" if reply.truth else "no"
        shown = {
            "question": question,
            "verdict": "close" if reply.value is None else verdict,
            "value": reply.value,
            "text": str(reply).partition(":")[0],
            "why": reply.why,
            "margin": reply.margin if np.isfinite(reply.margin) else None,
        }
        if pair := _pair(view, reply):
            relation, names = pair
            shown |= {"relation": relation, "names": names, "band": MARGINS[relation]}
        if self.run is not None:
            shown["model"] = self.run.answer(self._now(), question, pair, reply.value)
        return shown


def _pair(view: View, reply: TownAnswer) -> tuple[str, list[str]] | None:
    """The relation that a question asks about and the names of its things, if it asks about one."""
    match reply.form:
        case Form("holds", (subject, Form("related", (relation, *objects)))):
            with suppress(TownError, TooCloseError):
                evaluator = Evaluator(view)
                return relation, [evaluator.unique(phrase).name for phrase in (subject, *objects)]
    return None
