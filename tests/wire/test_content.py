"""What may not be put on the log (W HCS Content Boundary, D30)."""

import pytest

from specwright.wire import canonical
from specwright.wire.admission import default_admission
from specwright.wire.rejection import Rejection
from specwright.wire.stream import AdmissionState
from specwright.wire.validation import check_credentials
from testkit.wire.story import Story

PLANTED = [
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "ghp_" + "0123456789abcdefghij",
    "github_pat_" + "0123456789abcdefghij_x",
    "glpat-" + "0123456789abcdefghij",
    "sk-" + "proj-0123456789abcdef",
    "hf_" + "0123456789abcdefghijk",
    "AIza" + "0123456789abcdefghijklmnopqrstuvwxy",
    "xoxb-" + "0123456789-abcdef",
    "npm_" + "0123456789abcdefghijklmnopqrstuvwxyz",
    "pypi-" + "0123456789abcdefghijklmnopqrstuvwxyz",
    "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
    "Bearer " + "0123456789abcdefghij",
    "-----BEGIN PRIVATE KEY-----",
    "https://user:hunter2@example.org",
    "password=hunter2",
    "API_KEY:hunter2",
    "client secret=hunter2",
]


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_credential_is_refused_wherever_it_stands(planted: str):
    """No secrets in a Wire, in no field (W-4-03, D-30-04)."""
    for extension in ({"label": planted}, {"deep": [{"er": planted}]}):
        wire = Story().wire("task.created") | {"extensions": {"org.example": extension}}
        decision = default_admission().admit(AdmissionState(), wire)

        assert isinstance(decision, Rejection)
        assert decision.code == "wire.secret"
        assert planted not in decision.message


def test_a_key_that_says_password_is_refused():
    """A value under a telling key is a credential too (W-4-03)."""
    assert check_credentials(canonical.encode({"extensions": {"org.example": {"password": "hunter2"}}}))


@pytest.mark.parametrize(
    "harmless",
    [
        "TSK-0123456789abcdefghijk",
        "task-0123456789abcdefghijk",
        "https://example.org:8443/a",
        "secretary",
        "api-keys",
    ],
)
def test_what_only_looks_alike_is_carried(harmless: str):
    """The net is for credentials, not for words (W-4-03)."""
    assert check_credentials(canonical.encode({"reference": harmless})) is None
