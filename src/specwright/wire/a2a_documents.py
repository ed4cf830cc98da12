"""Messages and agent cards as A2A 1.0 has them, in ProtoJSON (W Message / Part / Artifact Model, D35, D37).

Documents go in that their schemas (`message`, `agent-card`) take. Numbers of metadata become strings, because A2A
metadata is a protobuf Struct.
"""

from collections.abc import Mapping
from typing import Any

from specwright.canonical_json import JsonObject, JsonValue

__all__ = ["CONSTRAINTS_EXTENSION", "a2a_agent_card", "a2a_message", "a2a_part"]

CONSTRAINTS_EXTENSION = "urn:agent-wire:1.1:constraints"
"""The A2A extension under which an agent's constraints are declared."""

_PROTOCOL_VERSION = "1.0"
_ROLES = {"human": "ROLE_USER", "agent": "ROLE_AGENT", "system": "ROLE_AGENT"}
_SCHEMES: dict[str, JsonObject] = {
    "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
    "api_key": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
    "mtls": {"mtlsSecurityScheme": {}},
}


def a2a_message(message: Mapping[str, Any]) -> JsonObject:
    """A message of Agent Wire as an A2A `Message`; a system's message comes from the agent's side."""
    metadata: JsonObject = {str(key): _text(value) for key, value in message.get("metadata", {}).items()}
    if message["role"] == "system":
        metadata["role"] = "system"
    result: JsonObject = {
        "messageId": message["message_id"],
        "role": _ROLES[message["role"]],
        "parts": [a2a_part(part) for part in message["parts"]],
    }
    if metadata:
        result["metadata"] = metadata
    if "context_id" in message:
        result["contextId"] = message["context_id"]
    return result


def a2a_part(part: Mapping[str, Any]) -> JsonObject:
    """One of the four kinds of part as an A2A `Part`."""
    match part["kind"]:
        case "text":
            return {"text": part["text"]}
        case "data":
            return {"data": part["data"], "mediaType": part.get("media_type", "application/json")}
        case "artifact_ref":
            return {"data": {"artifactId": part["artifact_id"]}, "metadata": {"kind": "artifact_ref"}}
        case _:
            return _file(part)


def a2a_agent_card(card: Mapping[str, Any], *, url: str, binding: str = "HTTP+JSON") -> JsonObject:
    """An agent card of Agent Wire as an A2A `AgentCard`.

    Args:
        card: By the schema `agent-card`.
        url: Where the agent is reached.
        binding: A2A's protocol binding at that address.
    """
    identity = card["identity"]
    schemes: JsonObject = {name: _SCHEMES[name] for name in card["auth"]["schemes"] if name in _SCHEMES}
    result: JsonObject = {
        "name": identity["name"],
        "description": identity["description"],
        "version": identity["version"],
        "supportedInterfaces": [
            {"url": url, "protocolBinding": binding, "protocolVersion": _PROTOCOL_VERSION},
        ],
        "capabilities": {"streaming": True, "extensions": [_constraints(card["constraints"])]},
        "defaultInputModes": card["input_modes"],
        "defaultOutputModes": card["output_modes"],
        "skills": [_skill(skill) for skill in card["skills"]],
    }
    if schemes:
        result["securitySchemes"] = schemes
        result["securityRequirements"] = [{"schemes": {name: {"list": []}}} for name in schemes]
    if "provider" in identity:
        result["provider"] = identity["provider"]
    return result


def _file(part: Mapping[str, Any]) -> JsonObject:
    result: JsonObject = {"url": part["uri"], "mediaType": part["media_type"]}
    if "name" in part:
        result["filename"] = part["name"]
    known: JsonObject = {}
    if "sha256" in part:
        known["sha256"] = part["sha256"]
    if "size_bytes" in part:
        known["sizeBytes"] = str(part["size_bytes"])
    if known:
        result["metadata"] = known
    return result


def _skill(skill: Mapping[str, Any]) -> JsonObject:
    result: JsonObject = {
        "id": skill["id"],
        "name": skill["name"],
        "description": skill["description"],
        "tags": skill.get("tags") or [skill["id"]],  # A2A wants at least one
    }
    if "input_modes" in skill:
        result["inputModes"] = skill["input_modes"]
    if "output_modes" in skill:
        result["outputModes"] = skill["output_modes"]
    return result


def _constraints(constraints: Mapping[str, Any]) -> JsonObject:
    return {
        "uri": CONSTRAINTS_EXTENSION,
        "description": "How much the agent takes on at a time, and within which limits.",
        "params": {key: _text(value) for key, value in constraints.items()},
    }


def _text(value: JsonValue) -> JsonValue:
    return str(value) if type(value) is int else value
