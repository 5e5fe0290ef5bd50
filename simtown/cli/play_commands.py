"""A page to play with a street: play."""

import signal
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from simtown.cli import places
from simtown.cli.command import RefusalError, command
from simtown.core.extras import need
from simtown.core.terminal import say
from simtown.datasets.addresses import is_address

STREET = (
    "A saved town (town.json), an example (DIR/SPLIT:INDEX) or a link from the page; else a random street."
)


def _street_named(street: str) -> str:
    """A street as it was given, but for an example whose data set a name means."""
    return places.example_named(street) if is_address(street) else street


@command
def play(
    street: Annotated[str | None, typer.Argument(metavar="STREET", help=STREET), _street_named] = None,
    *,
    seed: Annotated[int, "Of the random street."] = 73,
    run: Annotated[
        Path | None, "A trained model, whose answers stand beside the truth.", places.run_named
    ] = None,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.", min=0, max=65535)] = 0,
    show: Annotated[bool, "Open the browser.", "--open/--no-open"] = True,
) -> None:
    """Play with a street in the browser: drag vehicles and people, ask, and see each answer follow.

    The page is served to this machine alone, at an address with a secret in it. Ctrl-C ends it.
    """
    if street and not (is_address(street) or street.endswith(".json") or "#" in street):
        raise RefusalError(
            f"{street} is not a street: give a town.json, DIR/SPLIT:INDEX or a link from the page"
        )
    if run:
        need("train")
    from simtown.page.server import PlayServer
    from simtown.page.session import Session
    from simtown.town.town import Town

    session = Session(Town.random(seed, 4))
    if street and "#" in street:
        session.do("link", {"link": street.partition("#")[2]})
    elif street and street.endswith(".json"):
        session = Session(Town.load(street))
    elif street:
        from simtown.datasets.reading.locate import find

        split, row, _ = find(street)
        session = Session(Town.from_scene(split[row].scene))
    if run:
        from simtown.page.run_answers import RunModel

        session.run = RunModel(run)
    server = PlayServer(session, port)
    say(f"{server.url}  (Ctrl-C ends it)")
    sys.stdout.flush()  # a pipe's reader waits for the address
    if show:
        webbrowser.open(server.url)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Ctrl-C is how it ends
    with suppress(KeyboardInterrupt), server:
        server.serve_forever()
