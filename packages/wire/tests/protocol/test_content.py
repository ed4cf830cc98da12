"""What may not be put on the log (W HCS Content Boundary, D30)."""

import base64
import hashlib
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_wire import envelope
from agent_wire.admission import default_admission
from agent_wire.credentials import FORMS, check_credentials
from agent_wire.errors import Rejection
from agent_wire.stream import AdmissionState, Change
from wire_testkit.story import HAPPY_PATH, Story, artifact

HEX, LETTERS = "0123456789abcdef" * 4, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" * 2
PLANTED = {
    "an AWS key": ["AKIA" + "ABCDEFGHIJKLMNOP", "ASIA" + "ABCDEFGHIJKLMNOP"],
    "an Alibaba Cloud key": ["LTAI" + "0123456789abcdef"],
    "an Azure client secret": ["abc8Q~" + LETTERS[:34]],
    "an Azure shared access signature": ["https://a.example.org/c?sv=1&sig=" + LETTERS[:40] + "%3D"],
    "a Google key": ["AIza" + LETTERS[:35]],
    "a Google OAuth secret": ["GOCSPX-" + LETTERS[:28], "ya29." + LETTERS[:40]],
    "a DigitalOcean token": ["dop_v1_" + HEX],
    "a GitHub token": ["ghp_" + LETTERS[:36], "github_pat_" + LETTERS[:22] + "_x"],
    "a GitLab token": ["glpat-" + LETTERS[:20], "glrt-" + LETTERS[:20]],
    "a model provider's key": ["sk-" + "proj-0123456789abcdef", "gsk_" + LETTERS[:40], "hf_" + LETTERS[:30]],
    "a Stripe key": ["sk_live_" + LETTERS[:24], "rk_live_" + LETTERS[:24], "whsec_" + LETTERS[:32]],
    "a Square token": ["sq0csp-" + LETTERS[:43]],
    "a Shopify token": ["shpat_" + HEX[:32]],
    "a Vault token": ["hvs." + LETTERS[:24], "hvb." + LETTERS[:24]],
    "a Terraform token": [LETTERS[:14] + ".atlasv1." + LETTERS[:60]],
    "a Doppler token": ["dp.st.prd." + LETTERS[:40]],
    "a Slack token": ["xoxb-" + "0123456789-abcdef", "xapp-" + "1-A0123456789-abcdef"],
    "a webhook": [
        "https://hooks.slack.com/services/" + "T0123456/B0123456/" + LETTERS[:24],
        "https://discord.com/api/webhooks/" + "123456789012345678/" + LETTERS[:60],
        "https://corp.webhook.office.com/webhookb2/" + HEX[:30],
    ],
    "a Telegram bot's token": ["123456789:AA" + LETTERS[:33]],
    "a Discord bot's token": ["MTA" + LETTERS[:21] + ".Gabcde." + LETTERS[:38]],
    "a Twilio key": ["SK" + HEX[:32]],
    "a mail service's key": [
        "SG." + LETTERS[:22] + "." + LETTERS[:43],
        "key-" + HEX[:32],
        HEX[:32] + "-us14",
    ],
    "a package registry's token": ["npm_" + LETTERS[:36], "pypi-" + LETTERS[:40], "dckr_pat_" + LETTERS[:27]],
    "a database service's key": ["sbp_" + HEX[:40], "sb_secret_" + LETTERS[:30]],
    "a Databricks token": ["dapi" + HEX[:32]],
    "a monitoring service's key": [
        "glsa_" + LETTERS[:32],
        "sntrys_" + LETTERS[:40],
        "NRAK-" + "ABCDEFGHIJ0123456789ABCDEFG",
    ],
    "a developer service's key": [
        "lin_api_" + LETTERS[:40],
        "figd_" + LETTERS[:40],
        "tskey-auth-" + LETTERS[:20],
    ],
    "a JSON Web Token": ["eyJhbGciOiJI.eyJzdWIiOiIx.c2ln"],
    "a bearer token": ["Bearer " + LETTERS[:20], "bearer " + LETTERS[:20]],
    "basic credentials": ["Authorization: Basic " + "dXNlcjpwYXNz"],
    "an age key": ["AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"],
    "a DER key": [
        "MIIEpAIBAAKCAQEA" + LETTERS[:40],
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + LETTERS[:40],
        "MC4CAQAwBQYDK2VwBCIEI" + LETTERS[:40],
        "MHcCAQEEI" + LETTERS[:40],
        "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49" + LETTERS[:40],
    ],
    "a DER key in hex": [
        "302e020100300506032b657004220420" + HEX,
        "3030020100300706052b8104000a04220420" + HEX,
    ],
    "key material": ["-----BEGIN PRIVATE KEY-----"],
    "a password in a URI": ["https://user:hunter2@example.org", "redis://:hunter2@example.org"],
    "a value named as a secret": [
        *("password: x", "password=hunter2", "PASSWORD : hunter2", "Passwd=hunter2", "db_password => x"),
        *("API_KEY:hunter2", "client secret=hunter2", "aws_secret_access_key = " + LETTERS[:40]),
        *("AccountKey=" + LETTERS[:60] + "==", "access-token: hunter2", "token=hunter2", "pwd: hunter2"),
        '{"password": "hunter2"}',
    ],
}
"""Texts by the form that they have."""


def test_a_planted_credential_is_refused_wherever_it_stands():
    """No secrets in a Wire, in no field; the refusal names the form and not the value; no row of the table is without its
    example, and each example is found by its own row (W-4-03, D-30-04)."""
    assert {form.strip() for form in FORMS} == set(PLANTED)
    for form, pattern in FORMS.items():
        assert any(re.search(pattern, text) for text in PLANTED[form.strip()]), form
    for form, planted in [(form, text) for form, texts in PLANTED.items() for text in texts]:
        for extension in ({"label": planted}, {"deep": [{"er": f"x {planted} y"}]}):
            wire = Story().wire("task.created") | {"extensions": {"org.example": extension}}
            decision = default_admission().admit(AdmissionState(), wire)
            assert isinstance(decision, Rejection), planted
            assert decision.code == "wire.secret"
            assert form in decision.message
            assert planted not in decision.message


def test_a_key_that_says_password_is_refused():
    """A value under a telling key is a credential too, a number as well (W-4-03)."""
    for key in ("password", "db_password", "apiKey", "private-key", "secret"):
        for value in ("hunter2", 271828):
            assert check_credentials(envelope.encode({"extensions": {"org.example": {key: value}}})), key


HARMLESS = [
    *("TSK-0123456789abcdefghijk", "task-0123456789abcdefghijk", "https://example.org:8443/a"),
    *("secretary", "api-keys", "check_password", "reset_token", "password", "tokens: 1500"),
    *("token_count=1500", "a secret of success", "MM-5f3a9c01@1.0.0", "sketchy-names", "MIT"),
    *("state_store/modules/MM-5f3a9c01/1.0.0", "def token(text: str) -> str:", "for pin in pins:"),
    *("risk_level=3", "basic: tests", "ask-again-later", "email: someone@example.org"),
    *("git@example.org:team/project.git", "https://example.org/a@b", "hash_v1_0123456789abcdef"),
    *("task:TSK-014:attempt:1", "wire_01JZ0000000000000000000005", "hvac.unit-of-the-house"),
    *("550e8400-e29b-41d4-a716-446655440000", "2026-05-06T16:00:01.123456789Z"),
    "0.0.8830671@1778083200.000000001",
]


def test_what_only_looks_alike_is_carried():
    """The net is for credentials, not for words, ids and code (W-4-03)."""
    found = [text for text in HARMLESS if check_credentials(envelope.encode({"reference": text}))]
    assert found == []


@given(st.binary(max_size=40), st.integers(0, 2**128 - 1))
def test_hashes_ids_and_numbers_are_carried(text: bytes, number: int):
    """Digests in hex and base64, UUIDs and ULIDs have no form of a credential (W-4-03)."""
    digest = hashlib.sha384(text).digest()
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    ulid = "".join(alphabet[number >> shift & 31] for shift in range(125, -5, -5))
    for value in (
        digest.hex(),
        digest[:32].hex(),
        base64.b64encode(digest).decode(),
        f"wire_{ulid}",
        f"{number:032x}",
    ):
        assert check_credentials(envelope.encode({"payload": {"value": value}})) is None, value


def admitted(*wires: dict[str, Any]) -> AdmissionState:
    """The state after admissible Wires."""
    state = AdmissionState()
    for wire in wires:
        change = default_admission().admit(state, wire)
        assert isinstance(change, Change), change
        state.add(change)
    return state


def code_of(wire: dict[str, Any], *before: dict[str, Any]) -> str:
    """The code of the rule that a Wire breaks after others, `ok` if it breaks none."""
    decision = default_admission().admit(admitted(*before), wire)
    return decision.code if isinstance(decision, Rejection) else "ok"


def test_a_day_that_does_not_exist_is_refused():
    """`ts` is a time that there was or will be (D-47-09)."""
    real = ("2026-02-28", "2024-02-29", "2026-12-31")
    others = ("2026-02-29", "2026-02-30", "1900-02-29", "2026-04-31", "0000-01-01")
    expected = dict.fromkeys(real, "ok") | dict.fromkeys(others, "wire.date")
    found = {day: code_of(Story().wire("task.created") | {"ts": f"{day}T16:00:00Z"}) for day in expected}
    assert found == expected


def test_extensions_hold_no_prose():
    """Numbers, references and single words, not what somebody wrote (D-47-09, W-4-02, W-3-07)."""
    prose: list[Any] = [
        *(
            "two words",
            {"the model said so": 1},
            ["It_is_late.", "and so on"],
            {"deep": [{"er": "line\nline"}]},
        ),
        *("x" * 97, "\u8fd9\u662f\u4e00\u6bb5\u6587\u5b57", list("abcdefghi")),
    ]
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    fine: list[Any] = ["", {"trace": trace, "at": ["https://example.org/a?b=c", 7, None]}]

    def codes(values: list[Any]) -> set[str]:
        wires = (Story().wire("task.created") | {"extensions": {"org.example": one}} for one in values)
        return {code_of(wire) for wire in wires}

    assert (codes(prose), codes(fine)) == ({"wire.extension_text"}, {"ok"})


def test_lineage_names_the_attempt_that_announces():
    """An artifact is of the task and attempt on whose stream it is announced; a parent is another task (D-47-09)."""
    story = Story()
    before = story.wires(*HAPPY_PATH[:4])
    for lineage in ({"task": "TSK-002", "attempt": 1}, {"task": "TSK-001", "attempt": 2}):
        body = artifact(lineage=lineage | {"inputs": []})
        wire = story.wire("artifact.ready", body=body, stream_seq=5)
        assert code_of(wire, *before) == "artifact.lineage"
    assert code_of(Story().wire("task.created", parent_task_id="TSK-001")) == "stream.parent"
    assert code_of(Story().wire("task.created", parent_task_id="TSK-002")) == "ok"


def test_an_announced_version_keeps_its_hash():
    """After another version, and by another task of the project; another project has ids of its own (D-47-08)."""
    story = Story()

    def ready(stream_id: str, version: str, sha256: str, **stream: Any) -> dict[str, Any]:
        lineage = {"task": stream_id.split(":")[1], "attempt": 1, "inputs": []}
        body = artifact(version=version, sha256=sha256 * 64, lineage=lineage)
        return story.wire("artifact.ready", stream_id, body=body, **stream)

    one, two, three = (f"task:TSK-00{number}:attempt:1" for number in (1, 2, 3))
    other = "project:elsewhere-00000000"
    before = [
        *story.wires(*HAPPY_PATH[:4], stream_id=one),
        ready(one, "1.0.0", "a"),
        ready(one, "1.1.0", "b"),
        *story.wires(*HAPPY_PATH[:4], stream_id=two),
        *(story.wire(event, three, context_id=other) for event in HAPPY_PATH[:4]),
    ]
    after = {"stream_seq": 7}
    assert code_of(ready(one, "1.0.0", "c", **after), *before) == "artifact.conflict"
    assert code_of(ready(one, "1.0.0", "a", **after), *before) == "ok"
    assert code_of(ready(two, "1.0.0", "c", stream_seq=5), *before) == "artifact.conflict"
    assert code_of(ready(two, "1.0.0", "a", stream_seq=5), *before) == "ok"
    assert code_of(ready(three, "1.0.0", "c", stream_seq=5, context_id=other), *before) == "ok"
