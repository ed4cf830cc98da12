"""Canonical JSON of the wire package, under the name that this package uses."""

from agent_wire.canonical_json import JsonObject, JsonValue, canonical, digest, loads, pretty, sha256

__all__ = ["JsonObject", "JsonValue", "canonical", "digest", "loads", "pretty", "sha256"]
