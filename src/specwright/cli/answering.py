"""Going on with a project as it last ran, with a person's answer (DESIGN §9)."""

from pathlib import Path
from typing import TYPE_CHECKING

from specwright.cli.output import note
from specwright.cli.run_options import last_options, scripted_models, settings_for
from specwright.cli.spec_file import kept_spec, read_spec, spec_changed

if TYPE_CHECKING:
    from specwright.cli.driving import Answer

__all__ = ["go_on"]


def go_on(directory: Path, answer: "Answer", *, as_json: bool) -> None:
    """Give the answer and drive on to the next stop, with the options of the last `run`."""
    options = last_options(directory)
    settings = settings_for(directory, options)
    if spec_changed(directory):
        note(f"SPEC.md has changed since; this goes on with {kept_spec(directory)}")
    from specwright.cli.driving import drive

    text = read_spec(kept_spec(directory))
    scripted = options.scripted or scripted_models(settings)
    drive(directory, settings, text, scripted=scripted, answer=answer, as_json=as_json)
