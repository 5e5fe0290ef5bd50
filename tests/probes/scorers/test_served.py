"""A model behind a server against the same model read here: a loopback server with a tiny model."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import torch
import transformers
from requests import Response

from simtown.core.server_client import Server, UnreachableError
from simtown.probes.scorers import UnableError, open_scorer, served
from tests.hostile.marks import IN_PYTHON
from tests.probes.tiny import SENTENCES

CONTEXTS = ["the [BLANK]", "a red bus [BLANK]"]
TARGETS = ["sky", "banana", ["bus", "coat"]]


@contextmanager
def serving(path, *, echoes):
    """The URL of a server of a causal model, which begins texts with a token of its own as vLLM does."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    network = transformers.AutoModelForCausalLM.from_pretrained(path).eval()
    lock = threading.Lock()

    def logprobs(text):
        encoding = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids = [tokenizer.bos_token_id, *encoding["input_ids"]]
        with lock, torch.no_grad():
            rows = torch.log_softmax(network(torch.tensor([ids])).logits[0].double(), -1)
        return ids, [a for a, _ in encoding["offset_mapping"]], rows

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, choice = 200, {}
            if self.path.endswith("/chat/completions"):
                ids, _, rows = logprobs(request["messages"][0]["content"])
                best = rows[-1].topk(request["top_logprobs"])
                entries = [
                    {"token": tokenizer.decode([i]), "logprob": p}
                    for i, p in zip(best.indices.tolist(), best.values.tolist(), strict=True)
                ]
                choice = {"logprobs": {"content": [{"top_logprobs": entries}]}}
            elif echoes:
                ids, offsets, rows = logprobs(request["prompt"])
                values = [None, *(float(rows[i, token]) for i, token in enumerate(ids[1:])), -1.5]
                choice = {
                    "logprobs": {
                        "text_offset": [0, *offsets, len(request["prompt"])],
                        "token_logprobs": values,
                    }
                }
            else:
                status = 404
            body = json.dumps({"choices": [choice]}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"openai:http://127.0.0.1:{server.server_port}/v1#tiny"
        server.shutdown()


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_server_that_echoes_gives_the_same_sums(model, kind):
    here = open_scorer(f"hf:{model(kind)}")
    with serving(model(kind), echoes=True) as name:
        there = open_scorer(name)
        begins = [0, 8, 12, 0, 3]
        for given in (None, begins):
            for a, b in zip(
                there.sequence_logprobs(SENTENCES, given),
                here.sequence_logprobs(SENTENCES, given),
                strict=True,
            ):
                np.testing.assert_allclose(a.logprobs.sum(), b.logprobs.sum(), atol=1e-3)
                np.testing.assert_array_equal(a.words, b.words)
        np.testing.assert_allclose(
            there.class_logprobs(CONTEXTS, TARGETS), here.class_logprobs(CONTEXTS, TARGETS), atol=1e-3
        )


def test_a_server_that_does_not_echo_chooses_and_says_that_it_scores_no_sentences(model):
    with serving(model("llama"), echoes=False) as name:
        there = open_scorer(name)
        assert there.abilities == {"class_logprobs"}
        here = open_scorer(f"hf:{model('llama')}").class_logprobs(CONTEXTS, TARGETS)
        chosen = there.class_logprobs(CONTEXTS, TARGETS)
        assert np.isfinite(chosen).any()
        known = np.isfinite(chosen)
        np.testing.assert_array_less(here[known] - 1e-3, chosen[known])  # several tokens read as one word
        with pytest.raises(UnableError, match="sentences"):
            there.sequence_logprobs(SENTENCES)


ECHO = {"text_offset": [0, 1, 3, 5], "token_logprobs": [None, -1.0, -2.0, -1.0]}


@pytest.mark.parametrize(
    "wrong",
    [
        None, 3, "x", [1], {}, {"text_offset": [0, 1], "token_logprobs": [-1.0]},
        *({**ECHO, "token_logprobs": [None, value, -1.0, -1.0]} for value in ("-1", [], True, 5, -(10**400))),
        {**ECHO, "token_logprobs": [None] * 4}, {**ECHO, "token_logprobs": [float("nan")] * 4},
        *({**ECHO, "text_offset": offsets} for offsets in ([-1, 0, 1, 2], [3, 2, 1, 0], [10**30] * 4, "0")),
    ],
    ids=repr,
)  # fmt: skip
def test_numbers_that_are_none_are_no_scores(wrong, monkeypatch):
    """A server echoes the text that asks what it can do, and then sends something else."""
    monkeypatch.setattr(served, "_RETRIES", 0)

    def post(server, path, request):
        body = json.dumps({"choices": [{"logprobs": wrong if request["prompt"] == "a dog" else ECHO}]})
        reply = Response()
        reply.status_code, reply.reason = 200, "OK"
        return reply, body.encode()

    monkeypatch.setattr(Server, "_post", post)
    scorer = open_scorer("openai:http://localhost/v1#tiny")
    with pytest.raises((UnableError, UnreachableError)) as refusal:
        scorer.sequence_logprobs(["a dog"])
    assert not IN_PYTHON.search(str(refusal.value).partition(" (200")[0])
