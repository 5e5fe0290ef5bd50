"""A model of adjustable sight for `simtown check`, and the faults of a path that lie before it.

It finds a vehicle as what differs from the empty street, so it sees pixels as they arrive, and answers the
questions of the battery by them. What it cannot see it guesses, and so it does at times anyway. Equal
messages get equal answers.
"""

import base64
import io
import json
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import Image

from simtown.vlm.check_battery import SIDE
from simtown.vlm.check_probes import street
from simtown.vlm.vision_model import Said, VisionModel


class Arrived(NamedTuple):
    """A picture on its way: its pixels, and where the vehicle is."""

    rgb: np.ndarray
    mask: np.ndarray  # 255 where it is

    def each(self, change):
        """The same change of both."""
        return Arrived(*(np.ascontiguousarray(change(plane)) for plane in self))


class Message(NamedTuple):
    role: str
    text: str
    pictures: list[Arrived]
    is_behind: bool = False


def packed(rgb):
    """(h, w) uint32 a number for each colour: one array is compared sooner than three."""
    return np.dstack([rgb, np.zeros_like(rgb[..., :1])]).view(np.uint32)[..., 0]


@cache
def streets(width, height):
    """(n, h, w) uint32 all empty streets of a shape, also turned by a quarter; some of their pixels."""
    own = [packed(street(number, width, height)) for number in range(40)]
    own = np.stack(own + ([np.rot90(each) for each in own] if width == height else []))
    return own, own[:, ::8, ::8].copy()


def arrive(picture):
    """A picture with the vehicle in it: what differs from the street that differs least."""
    known, sample = streets(picture.shape[1], picture.shape[0])
    pixels = packed(picture)
    few = (sample != pixels[::8, ::8]).sum(axis=(1, 2))
    masks = [known[number] != pixels for number in few.argsort(kind="stable")[:5]]
    return Arrived(picture, np.uint8(255) * min(masks, key=np.sum))


def resized(picture, width, height):
    return Arrived(
        *(
            np.asarray(Image.fromarray(plane).resize((width, height), Image.Resampling.BOX))
            for plane in picture
        )
    )


def jpeg(picture):
    file = io.BytesIO()
    Image.fromarray(picture.rgb).save(file, "JPEG", quality=10)
    return picture._replace(rgb=np.asarray(Image.open(file)))


def exchanged(picture):
    """Rows of a picture of w x h read as if it were h x w."""
    height, width = picture.mask.shape
    return Arrived(picture.rgb.reshape(width, height, 3), picture.mask.reshape(width, height))


def cropped(picture, share=0.08):
    height, width = picture.mask.shape
    down, right = round(height * share), round(width * share)
    return picture.each(lambda plane: plane[down : height - down, right : width - right])


def small(picture, longest=336):
    height, width = picture.mask.shape
    scale = min(1, longest / max(height, width))
    return resized(picture, round(width * scale), round(height * scale))


def of_pictures(change):
    """A fault that changes the list of the pictures of a message."""
    return lambda messages: [
        message._replace(pictures=change(message.pictures)) if message.pictures else message
        for message in messages
    ]


def of_picture(change):
    return of_pictures(lambda pictures: [change(own) for own in pictures])


def by_size(pictures):
    return sorted(pictures, key=lambda own: blake2b(own.rgb.tobytes()).digest())


def grey(picture):
    levels = picture.rgb.mean(axis=2, keepdims=True).astype(np.uint8)
    return picture._replace(rgb=np.repeat(levels, 3, axis=2))


def blank(picture):
    return Arrived(np.full_like(picture.rgb, 128), np.zeros_like(picture.mask))


def only_last_turn(messages):
    return [message if message is messages[-1] else message._replace(pictures=[]) for message in messages]


class Fault(NamedTuple):
    """A fault: the probe that must name it, what it does to messages, and probes that also lose by it."""

    probe: str
    change: Callable = lambda messages: messages
    also: tuple[str, ...] = ()


FAULTS = {
    "none": Fault(""),
    "no picture": Fault("picture", of_pictures(lambda pictures: []), ("tokens",)),
    "grey picture": Fault("picture", of_picture(blank)),
    "only the first picture": Fault(
        "last-picture", of_pictures(lambda pictures: pictures[:1]), ("middle-picture", "order")
    ),
    "only the last picture": Fault(
        "first-picture", of_pictures(lambda pictures: pictures[-1:]), ("middle-picture", "order")
    ),
    "two pictures at most": Fault("middle-picture", of_pictures(lambda own: own[:1] + own[1:][-1:])),
    "reverse order": Fault("order", of_pictures(lambda pictures: pictures[::-1])),
    "order lost": Fault("order", of_pictures(by_size)),
    "mirrored": Fault("left-right", of_picture(lambda own: own.each(lambda plane: plane[:, ::-1]))),
    "upside down": Fault("up-down", of_picture(lambda own: own.each(lambda plane: plane[::-1]))),
    "quarter turn": Fault(
        "quarter-turn", of_picture(lambda own: own.each(np.rot90)), ("left-right", "up-down")
    ),
    "width and height exchanged": Fault("aspect", of_picture(exchanged), ("width-height",)),
    "stretched to a square": Fault(
        "aspect", of_picture(lambda own: resized(own, SIDE, SIDE)), ("resolution",)
    ),
    "red and blue exchanged": Fault(
        "colour", of_picture(lambda own: own._replace(rgb=own.rgb[:, :, ::-1])), ("detail",)
    ),
    "without colour": Fault("colour", of_picture(grey), ("detail",)),
    "edges cropped": Fault("edges", of_picture(cropped)),
    # what is made small mixes with the street, and loses some of its colour
    "made small": Fault("resolution", of_picture(small), ("detail",)),
    "JPEG": Fault("detail", of_picture(jpeg)),
    "system text dropped": Fault("system-text", lambda own: [it for it in own if it.role != "system"]),
    "earlier pictures dropped": Fault("earlier-turn", only_last_turn),
    "pictures behind words dropped": Fault(
        "behind-words", lambda own: [it._replace(pictures=[]) if it.is_behind else it for it in own]
    ),
    "temperature 1": Fault("repeat"),
}


def both(first, second):
    """The change of two faults, one after the other."""
    return lambda messages: FAULTS[second].change(FAULTS[first].change(messages))


def perceive(messages, acuity):
    """The answer that messages show; None if they do not. `acuity`: the least length that is seen, pixels."""
    text = messages[-1].text
    if fact := re.search(r"Today the (.*?) was sold", " ".join(own.text for own in messages)):
        return fact[1]
    if "on the street" in text:
        return "yes" if "There is a " in text else "no"
    pictures = [own for message in messages for own in message.pictures]
    boxes = [box_of(own.mask, acuity) for own in pictures]
    if "sold" in text or not boxes:
        return None
    if "Is there a vehicle" in text:
        return "yes" if any(boxes) else "no"
    if "the first or the second" in text:
        return ("first", "second")[boxes[0] is None] if len(boxes) == 2 and None in boxes else None
    if boxes[0] is None:
        return None
    left, right, top, bottom = boxes[0]
    height, width = pictures[0].mask.shape
    if "left or right" in text:
        return "left" if left + right < width else "right"
    if "upper or lower" in text:
        return "upper" if top + bottom < height else "lower"
    is_wide = right - left > bottom - top
    if "horizontal or vertical" in text:
        return "horizontal" if is_wide else "vertical"
    if "wider than" in text:
        return "wider" if is_wide else "higher"
    rgb = pictures[0].rgb[pictures[0].mask > 127].mean(axis=0)
    if "red or blue" in text:
        return None if np.ptp(rgb) < 40 else ("red", "green", "blue")[rgb.argmax()]
    return ("black", "grey", "white")[np.searchsorted((128, 170), rgb.mean())]


def box_of(mask, acuity):
    """Left, right, top and bottom of a vehicle; None if it is too small to be seen."""
    rows, columns = (np.flatnonzero((mask > 127).any(axis=axis)) for axis in (1, 0))
    if not len(rows) or max(np.ptp(rows), np.ptp(columns)) + 1 < acuity:
        return None
    return columns[0], columns[-1] + 1, rows[0], rows[-1] + 1


def digest(messages):
    state = blake2b()
    for message in messages:
        state.update(f"{message.role} {message.is_behind} {message.text}".encode())
        for own in message.pictures:
            state.update(own.rgb.tobytes())
    return state.hexdigest()


class Eye:
    """Answers messages: a function of what arrives.

    Attributes:
        change: the fault before it.
        lapses: share of questions that it guesses though it sees.
        acuity: the least length that it sees, pixels.
        seed: of its guesses.
        flips: share of questions that it answers otherwise each time.
        kept: what is seen by the digest of the messages that were sent, for all eyes of a fault.
    """

    def __init__(self, change, lapses=0.05, acuity=6, seed=0, flips=0.0, kept=None):
        self.change, self.lapses, self.acuity, self.seed, self.flips = change, lapses, acuity, seed, flips
        self.kept = {} if kept is None else kept
        self.noise = Random(seed)

    def answer(self, messages, sent, choices):
        """The answer to messages of a digest, and the tokens that were read."""
        if sent not in self.kept:
            self.kept[sent] = self.see(messages)
        seen, place, read = self.kept[sent]
        luck = Random(f"{self.seed}:{place}")
        guess = luck.choice(choices)
        if self.flips and self.noise.random() < self.flips:
            return self.noise.choice(choices), read
        return guess if seen is None or luck.random() < self.lapses else seen, read

    def see(self, messages):
        """What is seen, the digest of what arrived, and its tokens."""
        arrived = self.change(messages)
        shapes = [picture.mask.shape for own in arrived for picture in own.pictures]
        read = sum(-(-height // 28) * -(-width // 28) for height, width in shapes)
        read += sum(len(own.text.split()) for own in arrived)
        return perceive(arrived, self.acuity), digest(arrived), read


@cache
def sent(query):
    """The messages of a question before any fault, and their digest."""
    messages = [message_of(*turn) for turn in query.messages]
    return messages, digest(messages)


class SimulatedModel(VisionModel):
    """An eye as a model in this process."""

    holds_turns = holds_several = True

    def __init__(self, eye):
        self.eye = eye

    def ask(self, queries):
        for query in queries:
            text, read = self.eye.answer(*sent(query), query.gold.choices)
            yield query, Said(text, read=read, written=1)


@contextmanager
def serving(eye):
    """A server on the loopback that answers as an eye; gives the name of the model."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            messages = [received(message) for message in body["messages"]]
            text, read = eye.answer(messages, digest(messages), choices_of(messages[-1].text))
            reply = {
                "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": read, "completion_tokens": 1},
            }
            content = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"openai:http://127.0.0.1:{server.server_port}/v1#eye"
    finally:
        server.shutdown()
        server.server_close()


def received(message):
    """A message as a server gets it: the texts, and the pictures that its data URLs hold."""
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [part["text"] for part in parts if part["type"] == "text"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    pictures = [decoded(base64.b64decode(url.partition(",")[2])) for url in urls]
    is_behind = bool(urls) and parts[-1]["type"] == "image_url"
    text = next(text for text in texts if not re.fullmatch(r"Picture \d+:", text))
    return message_of(message["role"], text, pictures, is_behind)


@cache
def decoded(png):
    return np.asarray(Image.open(io.BytesIO(png)))


def choices_of(text):
    """The answers that a question names, in their order."""
    listed = re.search(r"Answer with one of: (.*)\.", text)
    return listed[1].split(", ") if listed else ("yes", "no")


#: Pictures that arrived, by their shape and pixels.
_ARRIVED = {}


def message_of(role, text, pictures=(), is_behind=False):
    known = []
    for own in pictures:
        key = own.shape, blake2b(own.tobytes()).digest()
        if key not in _ARRIVED:
            _ARRIVED[key] = arrive(own)
        known.append(_ARRIVED[key])
    return Message(role, text, known, is_behind)
