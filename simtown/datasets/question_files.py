"""Families of questions that a user's TOML files describe."""

from dataclasses import replace
from pathlib import Path

from simtown.core.untrusted import read_toml_text
from simtown.datasets.settings import Settings, SettingsError
from simtown.language.asking.families import read_families
from simtown.language.asking.templates import FamilyError
from simtown.language.words.questions import FAMILIES


def read_question_files(settings: Settings) -> Settings:
    """The settings with the families of the TOML files among `questions`, which may change later.

    Nothing else reads such a file. Raises SettingsError for one that cannot be used.

    >>> import pathlib, simtown
    >>> template = 'program = "exist(1)"\\nslots = ["set"]\\ntexts = ["Is {a 1} there?"]'
    >>> text = f'[there]\\nanswer = "truth"\\n[[there.templates]]\\n{template}\\n'
    >>> size = pathlib.Path("mine.toml").write_text(text)
    >>> simtown.read_question_files(simtown.Settings(questions=("exist", "mine.toml"))).questions
    ('exist', 'there')
    """
    questions: list[str] = []
    text = settings.own_families
    for name in settings.questions:
        if not name.endswith(".toml"):
            questions.append(name)
            continue
        try:
            text = "\n".join(filter(None, (text, read_toml_text(Path(name)))))
            families = read_families(text, name)
            if taken := {"paper", "all", *FAMILIES} & families.keys():
                raise FamilyError(f"{min(taken)} is a family of simtown: give yours another name")
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise SettingsError(f"{name} cannot be used: {why}", "questions") from error
        questions += families
    return replace(settings, questions=tuple(dict.fromkeys(questions)), own_families=text)
