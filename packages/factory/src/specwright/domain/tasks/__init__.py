"""Tasks: ids, task files, states, transitions and dispatch (design: task-states)."""
