"""A project whose roles are the real ones over a fake model: agent loop, tools and middleware are the product's."""

from dataclasses import replace
from pathlib import Path

from specwright.application.factory import Factory
from specwright.ports import Role, WebSearch
from specwright.roles.agent.tools import NoSearch
from specwright.roles.team import ModelRoles
from specwright.storage.context_pack import ContextPackBackend
from testkit.loop.project_workbench import ProjectWorkbench
from testkit.model.fake_model import FakeSource, Reply

__all__ = ["RolesWorkbench"]


class RolesWorkbench(ProjectWorkbench):
    """A project whose roles are the real ones over a fake model.

    Args:
        directory: The project.
        reply: Answers every role.
        calls_per_role: As the setting has it.
        search: What `web_search` asks.
        window: How many tokens the model says that it takes; 0 says nothing.
    """

    def __init__(
        self,
        directory: Path,
        reply: Reply,
        *,
        calls_per_role: int = 60,
        search: WebSearch | None = None,
        window: int = 0,
    ) -> None:
        super().__init__(directory)
        sources = dict.fromkeys(Role, FakeSource(reply, window))
        self.roles = ModelRoles(
            sources,
            self.journal,
            self.factory.index,
            search or NoSearch(),
            self.runtime / "work",
            self.notes,
            ContextPackBackend,
            calls_per_role,
        )
        self.factory: Factory = replace(
            self.factory, roles=self.roles, spec_text="# Table keeper\n\nIt keeps tables.\n"
        )
