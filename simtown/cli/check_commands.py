"""The path to a vision-language model: check."""

from pathlib import Path
from typing import Annotated

import typer

from simtown.cli.command import RefusalError, command
from simtown.cli.places import local
from simtown.cli.sharing import AllowOption, DeviceOption
from simtown.core.extras import need
from simtown.core.files import save_json, save_text
from simtown.core.progress import one_bar
from simtown.core.terminal import say, say_block
from simtown.core.untrusted import inside
from simtown.probes.model_names import slug_of
from simtown.training.fit_settings import device_of
from simtown.vlm.vlm_settings import CONTINUES, PEOPLE, WITHOUT_DEVICE, CheckSettings, is_model

_FORMS = "openai:URL#MODEL, hf:ID-OR-DIR, command:PROGRAM or python:package.module:function"
_AGAINST = "Another model, or the same one behind another server: it gets the same questions."


def _model_named(model: str) -> None:
    """Raises RefusalError for a name that is not that of a model that can be asked anything."""
    if not is_model(model) or model.partition(":")[0] == PEOPLE:
        raise RefusalError(f"{model} is not a model that can be checked: write {_FORMS}")


@command
def check(
    model: Annotated[str, f"The model: {_FORMS}.", _model_named],
    settings: CheckSettings,
    *,
    against: Annotated[str | None, _AGAINST, _model_named] = None,
    device: DeviceOption = "auto",
    json: Annotated[Path | None, "Also write the figures as JSON."] = None,
    out: Annotated[Path | None, "The page; by default checks/MODEL.html."] = None,
    dry_run: Annotated[bool, "Say what it will cost at most, and ask nothing."] = False,
    allow_model: AllowOption = None,
) -> None:
    """Check whether the path to a model delivers what was sent: pictures, their order, size, sides, colours.

    Asks pairs of questions of which one known thing differs, and says of each thing whether it is delivered
    or not, or that the model is too weak to tell. The exit code is 0 if nothing is named as lost, 1 if
    something is not delivered, and 3 if nothing could be told. docs/check.md teaches to read the page.
    """
    need("vlm")
    from simtown.core.server_client import UnreachableError
    from simtown.vlm.check_page import page, table
    from simtown.vlm.check_run import check_model, cost_lines

    say(*cost_lines(settings))
    if dry_run:
        return
    path = local(out) if out else inside(Path(), f"checks/{slug_of(model)}.html")
    models = [name for name in (model, against) if name]
    kind = device if all(name.startswith(WITHOUT_DEVICE) for name in models) else device_of(device)
    try:
        with one_bar() as bars:
            report = check_model(model, settings, against or "", kind, allow_model or (), bars)
    except UnreachableError as error:
        problem = f"{error}".removesuffix(CONTINUES).rstrip("; :")
        raise RefusalError(f"{problem}: nothing is kept, check again when it answers") from error
    path.parent.mkdir(parents=True, exist_ok=True)
    save_text(path, page(report))
    if json:
        save_json(local(json, "--json"), report.record())
    say_block(table(report).markdown(2))
    say(report.headline(), f"Look at {path}")
    if report.exit_code:
        raise typer.Exit(report.exit_code)
