"""The model roles: prompts, agents, structured answers, playbooks."""
