"""Agent Wire v1.1: the typed, replayable event protocol. Imports without the factory (design: wire).

    make       `make_wire`, `make_stream`, `task_stream_id`
    validate   `validate_document`: one Wire by itself
    admit      `default_admission`: may a Wire follow those before it?
    reduce     `reduce_wires`: ordered Wires -> the state of every task, artifact and project; `reduce_stream`: one alone
    map        `map_wires`: the same Wires as A2A 1.0 tasks

Everything is pure: the tables and schemas are parameters, and only `agent_wire.tables` reads the files that ship.
"""

from agent_wire.a2a import LogPosition, a2a_task_id, map_wires
from agent_wire.admission import Admission, RepeatedWire, default_admission
from agent_wire.documents import Verdict, read_lines, validate_document
from agent_wire.envelope import StreamId, make_stream, make_wire, task_stream_id
from agent_wire.errors import Rejection, WireRefusedError
from agent_wire.reducer import Reduction, RejectedWire, reduce_stream, reduce_wires
from agent_wire.stream import AdmissionState, Change

__all__ = [
    "Admission",
    "AdmissionState",
    "Change",
    "LogPosition",
    "Reduction",
    "RejectedWire",
    "Rejection",
    "RepeatedWire",
    "StreamId",
    "Verdict",
    "WireRefusedError",
    "a2a_task_id",
    "default_admission",
    "make_stream",
    "make_wire",
    "map_wires",
    "read_lines",
    "reduce_stream",
    "reduce_wires",
    "task_stream_id",
    "validate_document",
]
