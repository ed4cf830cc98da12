"""What the tools for files take and give (design: mcp-server)."""

from typing import Annotated

from pydantic import Field

from specwright.domain.base.record import Record
from specwright.mcp_server.records import ModuleDirectoryText, PathText

_Text = Annotated[str, Field(max_length=1_048_576)]


class ReadModuleArguments(Record):
    """What `read_module` takes."""

    directory: ModuleDirectoryText


class TextFile(Record):
    """A file with its text."""

    path: Annotated[str, Field(description="Relative to the module's directory, or as the call named it.")]
    text: str


class ReadModuleResult(Record):
    """What `read_module` gives."""

    directory: str
    files: list[TextFile]
    left_out: Annotated[list[str], Field(description="Files that are too large, or no text.")]


class ReadFilesArguments(Record):
    """What `read_files` takes."""

    paths: Annotated[
        list[PathText],
        Field(
            min_length=1,
            max_length=50,
            description="Files, to be given their text; or folders, to be given the names of the files below them. Relative "
            "to a root of the server, or absolute and below one.",
        ),
    ]


class ListedFolder(Record):
    """A folder with the files below it that can be read."""

    path: str
    files: list[str]


class ReadFilesResult(Record):
    """What `read_files` gives."""

    files: list[TextFile]
    folders: list[ListedFolder]
    left_out: Annotated[list[str], Field(description="Files for which the answer had no room: ask again.")]


class Replacement(Record):
    """A change of one place in a file."""

    old: Annotated[
        str, Field(min_length=1, max_length=1_048_576, description="Text that occurs exactly once.")
    ]
    new: Annotated[_Text, Field(description="What takes its place; may be empty.")]


class FileEdit(Record):
    """A change of one file: either `text` or `replace`."""

    path: Annotated[
        PathText, Field(description="The file; relative to a root of the server, or absolute and below one.")
    ]
    text: Annotated[
        _Text | None,
        Field(default=None, description="The whole content, of a new file or one that is there."),
    ]
    replace: Annotated[
        list[Replacement], Field(default=[], max_length=200, description="Made one after the other.")
    ]


class EditFilesArguments(Record):
    """What `edit_files` takes."""

    files: Annotated[
        list[FileEdit],
        Field(min_length=1, max_length=50, description="Each file once. All are written, or none."),
    ]


class EditedFile(Record):
    """A file that was written."""

    file: str
    existed: Annotated[bool, Field(description="Whether it took the place of another content.")]


class EditFilesResult(Record):
    """What `edit_files` gives."""

    files: list[EditedFile]
