"""A resources server for NeMo Gym, with its data.

::

    write_server("resources_servers/simtown_street", Street(level=3, seed=7), n=1000)

NeMo Gym reads its data from JSON lines, so there each task holds its picture: about 30 KB of text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)

from simtown.core import untrusted
from simtown.core.files import replacing, save_text
from simtown.gym.adapters import gold_of, score, unread
from simtown.gym.tasks import Street

_APP = """\
from simtown.gym.adapters.nemo_gym import StreetServer

if __name__ == "__main__":
    StreetServer.run_webserver()
"""
_CONFIG = """\
{name}:
  resources_servers:
    {name}:
      entrypoint: app.py
      domain: other
      description: Questions about pictures of streets, with exact answers
      verified: false
{name}_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      max_steps: 1
      resources_server:
        type: resources_servers
        name: {name}
      model_server:
        type: responses_api_models
        name: policy_model
      datasets:
      - name: train
        type: train
        jsonl_fpath: resources_servers/{name}/data/train.jsonl
        license: Creative Commons Attribution 4.0 International
"""


class StreetVerifyRequest(BaseVerifyRequest):
    """A row with the model's response."""

    gold: dict[str, Any]
    metadata: dict[str, Any]


class StreetVerifyResponse(StreetVerifyRequest, BaseVerifyResponse):
    """The row and the response with their reward, and whether the response holds no answer."""

    unread: bool


class StreetServer(SimpleResourcesServer):
    """Scores responses; keeps nothing."""

    config: BaseResourcesServerConfig

    async def verify(self, body: StreetVerifyRequest) -> StreetVerifyResponse:
        """Reward 1 for a right response, 0 for any other."""
        reply = body.response.output_text
        told = {"reward": score(reply, body.gold), "unread": unread(reply, body.gold)}
        return StreetVerifyResponse(**body.model_dump(), **told)


def rows(tasks: Street) -> Iterator[dict[str, Any]]:
    """Endless rows of NeMo Gym's data: the request to the model, and what `verify` needs."""
    for task in tasks:
        url, text = (part for message in task.messages for part in message["content"])
        content = [
            {"type": "input_image", "image_url": url["image_url"]["url"], "detail": "auto"},
            {"type": "input_text", "text": text["text"]},
        ]
        request = {"input": [{"role": "user", "content": content}]}
        yield {"responses_create_params": request, "gold": gold_of(task), "metadata": task.metadata}


def write_server(folder: str | Path, tasks: Street, n: int) -> None:
    """Write a resources server, named as its folder, and its first n tasks as data/train.jsonl."""
    folder = Path(folder)
    configs, data = (untrusted.folder(folder, part) for part in ("configs", "data"))
    save_text(folder / "app.py", _APP)
    sources = Path(__file__).parents[3]  # simtown is on no index: the line of a wheel is the user's to write
    own = f"simtown @ {sources.as_uri()}" if (sources / "pyproject.toml").exists() else "# simtown @ ..."
    save_text(folder / "requirements.txt", f"-e nemo-gym @ ../../\n{own}\n")
    config = _CONFIG.format(name=folder.name)
    save_text(configs / f"{folder.name}.yaml", config)
    with replacing(data / "train.jsonl") as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in islice(rows(tasks), n))
