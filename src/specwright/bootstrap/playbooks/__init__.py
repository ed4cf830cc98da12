"""Playbooks as files: made from a project, checked before a run, judged module by module (design: models)."""
