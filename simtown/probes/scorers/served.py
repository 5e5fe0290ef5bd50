"""Models behind a server with OpenAI's protocol, as scorers: log-probabilities as far as it gives any."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import msgspec
import numpy as np

from simtown.core.server_client import CHAT, Server, UnreachableError
from simtown.core.untrusted import parse_json
from simtown.probes.scorers.base import Ability, Scorer, ScorerSettings, TokenScores, UnableError
from simtown.probes.scorers.batching import distinct
from simtown.probes.scorers.spelling import add_synonyms, split_at_blank, synonyms_of, visible, words_of

_COMPLETIONS = "/completions"
#: Requests at once, seconds of a reply, and how often a request is sent again.
_PARALLEL, _TIMEOUT, _RETRIES = 8, 120.0, 5
#: The most likely first tokens of a reply that a server names.
_TOP = 20


class Served(Scorer):
    """A model of a server: "openai:http://localhost:8000/v1#Qwen/Qwen3-8B".

    A server whose completions echo a prompt with its log-probabilities (vLLM, llama.cpp) scores sentences and
    gaps; the first token has none unless the server begins texts with a token of its own. Any other, or
    with `chat`, gives those of the likeliest first tokens of a reply: it can choose among short words, and
    one that is not among them is NaN.
    """

    forward = True
    limitation = "cannot score sentences, since its server gives none of a prompt: ask by choice or yesno"

    def __init__(self, name: str, place: str, settings: ScorerSettings) -> None:
        self.name = name
        self._server = Server(
            place,
            parallel=_PARALLEL,
            timeout=_TIMEOUT,
            retries=_RETRIES,
            rate=None,
            remedy="the same command goes on with --cache",
        )
        abilities: set[Ability] = {"class_logprobs"}
        if not settings.chat and self._echoes():
            abilities.add("sequence_logprobs")
        self.abilities = frozenset(abilities)

    def sequence_logprobs(
        self, texts: Sequence[str], begins: Sequence[int] | None = None
    ) -> list[TokenScores]:
        if "sequence_logprobs" not in self.abilities:
            return super().sequence_logprobs(texts, begins)
        unique, where = distinct(zip(texts, begins or [0] * len(texts), strict=True))
        replies = self._ask(_COMPLETIONS, [self._echo(text) for text, _ in unique], _echoed)
        scores = []
        for (text, begin), (offsets, logprobs) in zip(unique, replies, strict=True):
            if not any(at < len(text) for at in offsets):
                raise UnableError(f"{self.name} {self.limitation}")
            spans = zip(offsets, [*offsets[1:], len(text)], logprobs, strict=True)
            kept = [
                (at, max(end, at + 1), logprob)
                for at, end, logprob in spans
                if at < len(text) and logprob is not None and visible(text, at, end) >= begin
            ]
            words = words_of(text, [(a, b) for a, b, _ in kept])
            scores.append(TokenScores(np.array([p for *_, p in kept], dtype=np.float64), words))
        return [scores[place] for place in where]

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        befores = [split_at_blank(context)[0] for context in contexts]
        if "sequence_logprobs" in self.abilities:
            of = self._behind(befores, [word for target in targets for word in synonyms_of(target)])
        else:
            of = self._first_of_reply(befores)
        rows = [add_synonyms(known, targets) for known in of]
        return np.array(rows).reshape(len(contexts), len(targets))

    def _behind(self, befores: Sequence[str], words: Sequence[str]) -> list[dict[str, float]]:
        """The log-probability of each word behind each text."""
        texts = [before + word for before in befores for word in words]
        begins = [len(before.rstrip()) for before in befores for _ in words]
        scores = iter(self.sequence_logprobs(texts, begins))
        return [{word: float(next(scores).logprobs.sum()) for word in words} for _ in befores]

    def _first_of_reply(self, befores: Sequence[str]) -> list[dict[str, float]]:
        """Of the likeliest first tokens of a reply the log-probability, without blanks around them."""
        how = {"model": self._server.model, "max_tokens": 1, "temperature": 0, "logprobs": True}
        how |= {"top_logprobs": _TOP}
        chats = [[{"role": "user", "content": before.rstrip()}] for before in befores]
        return self._ask(CHAT, [how | {"messages": chat} for chat in chats], _likeliest)

    def _ask(self, path: str, requests: Sequence[dict[str, Any]], read: Any) -> list[Any]:
        with ThreadPoolExecutor(_PARALLEL) as pool:
            replies = list(pool.map(lambda r: self._server.ask(path, r, read, "a question"), requests))
        if refused := [reply.problem for reply in replies if reply.value is None]:
            raise UnableError(f"{self.name} {self.limitation} ({refused[0]})")
        return [reply.value for reply in replies]

    def _echo(self, text: str) -> dict[str, Any]:
        how = {"max_tokens": 1, "echo": True, "logprobs": 1, "temperature": 0}
        return {"model": self._server.model, "prompt": text, **how}

    def _echoes(self) -> bool:
        try:
            ((offsets, _),) = self._ask(_COMPLETIONS, [self._echo("a b c")], _echoed)
        except (UnableError, UnreachableError):
            return False
        return len(offsets) > 2  # more than what was written behind the prompt


_Offset = Annotated[int, msgspec.Meta(ge=0)]
_Logprob = Annotated[float, msgspec.Meta(le=1)]  # rounded, and no NaN


def _echoed(body: bytes) -> tuple[list[int], list[float | None]]:
    """The characters at which tokens begin, and their log-probabilities; none if a server gives none.

    Raises ValueError, or another error of a value, if it gives something else.
    """
    logprobs = parse_json(body)["choices"][0].get("logprobs") or {}
    columns = logprobs.get("text_offset") or [], logprobs.get("token_logprobs") or []
    offsets, values = msgspec.convert(columns, tuple[list[_Offset], list[_Logprob | None]])
    if len(offsets) != len(values) or offsets != sorted(offsets) or values[1:].count(None) > 1:
        raise ValueError("its tokens have no order, or no log-probabilities")
    return offsets, values


def _likeliest(body: bytes) -> dict[str, float] | None:
    """Log-probabilities by token. Raises as :func:`_echoed`."""
    known: dict[str, float] = {}
    for entry in parse_json(body)["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
        token, logprob = str(entry["token"]).strip(), msgspec.convert(entry["logprob"], _Logprob)
        known[token] = float(np.logaddexp(known.get(token, -np.inf), logprob))
    return known
