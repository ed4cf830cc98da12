"""The composition root: the only place where adapters are chosen.

| to                                       | module    | function            |
|------------------------------------------|-----------|---------------------|
| drive a project                          | project   | `open_project`      |
| read a project while another process drives it | views | `reading_project`   |
| sum up the costs of a project            | costs     | `costs`             |
| check a project                          | verify    | `verify_project`    |
| find the models of the roles             | project   | `model_sources_of`  |

The modules are separate so that a command that only reads starts without the frameworks that a run needs.

A project is a directory: SPEC.md, specwright.toml, `project/` with the task files, `state_store/`, and `.specwright/`
with what its runs need: log, journal, checkpoints, lock, last options.
"""
