"""Agent Wire v1.1, a typed and replayable event protocol (design: wire). It does not need the factory.

    make       `make_wire`, `make_stream`, `task_stream_id`
    validate   `validate_document`: check one Wire on its own
    admit      `default_admission`: decide whether a Wire may follow the Wires before it
    reduce     `reduce_wires`: ordered Wires -> the state of every task, artifact and project; `reduce_stream`: of one stream
    map        `map_wires`: ordered Wires -> A2A 1.0 tasks

These functions are pure: tables and schemas are parameters, and only `agent_wire.tables` reads the files in the package.
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
