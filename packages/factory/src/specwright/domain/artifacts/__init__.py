"""Artifact envelopes and where an artifact comes from (design: artifacts, context-packs)."""
