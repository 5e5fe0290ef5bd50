"""A server on the loopback with OpenAI's chat protocol: a function answers, and faults can be injected."""

import base64
import contextlib
import io
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from PIL import Image


@dataclass
class Raw:
    """A reply as it is sent: a body, or parts of one that come until the client has gone."""

    body: bytes | Iterable[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def completion(content="yes", usage=None, finish="stop", **message):
    """A reply with any content, and more keys of its message."""
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return Raw(json.dumps({"choices": [choice], "usage": usage}).encode())


class ChatServer(ThreadingHTTPServer):
    """Answers with `reply(prompt, picture)`: a text, or a :class:`Raw` reply.

    Attributes:
        faults: what happens to the next requests, one after the other, instead of an answer: "429" (with a
            Retry-After of 1 s), "500", "cut", "late", "nonsense", or another status.
        answered: how often each prompt was answered.
        keys: the keys that came.
        times: when requests came.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, reply, faults=()):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply, self.faults, self.lock = reply, list(faults), threading.Lock()
        self.answered, self.keys, self.times, self.bodies = Counter(), set(), [], []

    @property
    def model(self):
        return f"openai:http://127.0.0.1:{self.server_port}/v1#tiny"

    def handle_error(self, request, address):
        pass  # clients go away, as they should


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            fault = self.server.faults.pop(0) if self.server.faults else ""
            self.server.keys.add(self.headers.get("Authorization"))
            self.server.times.append(time.monotonic())
            self.server.bodies.append(body)
        if fault.isdecimal():
            return self._send(int(fault), {"error": {"message": f"no, {self.headers.get('Authorization')}"}})
        if fault == "late":
            time.sleep(1.5)
        if fault == "nonsense":
            return self._send(200, "<html>It works!</html>")
        parts = {part["type"]: part for part in body["messages"][-1]["content"]}
        prompt, picture = parts["text"]["text"], None
        if "image_url" in parts:
            packed = base64.b64decode(parts["image_url"]["image_url"]["url"].partition(",")[2])
            picture = np.asarray(Image.open(io.BytesIO(packed)))
        text = self.server.reply(prompt, picture)
        if isinstance(text, Raw):
            return self._send_raw(text)
        if fault not in ("late", "cut"):
            with self.server.lock:
                self.server.answered[prompt] += 1
        usage = {"prompt_tokens": 100, "completion_tokens": 2}
        message = {"role": "assistant", "content": text}
        self._send(200, {"choices": [{"message": message}], "usage": usage}, cut=fault == "cut")

    def _send(self, status, content, cut=False):
        body = json.dumps(content).encode() if isinstance(content, dict) else content.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.connection.shutdown(socket.SHUT_RDWR)

    def _send_raw(self, raw):
        self.close_connection = True
        self.send_response(raw.status)
        for header in raw.headers.items():
            self.send_header(*header)
        self.end_headers()
        for part in [raw.body] if isinstance(raw.body, bytes) else raw.body:
            self.wfile.write(part)


@contextlib.contextmanager
def serving(reply, faults=()):
    """A server in a thread of its own."""
    server = ChatServer(reply, faults)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
