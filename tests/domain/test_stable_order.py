"""What code lists is in one order, whatever the hash seed of the process: a request is the same after a crash (D-26-05)."""

import random

from specwright.domain.base.graph import dependents
from specwright.domain.interfaces.records import FunctionParameter, PublicFunction
from specwright.domain.interfaces.rules import option_problems

NAMES = [f"name_{letter}" for letter in "abcdefghijkl"]


def test_what_depends_on_a_node_is_listed_after_its_targets_by_name():
    """D-26-05: the consumers of a changed contract are in the claim of its debate, and so in every request of it."""
    users = {f"uses_{name}": {"start", name} for name in random.Random(1).sample(NAMES, len(NAMES))}
    edges = {**users, "first": {"start"}, "none": set(NAMES), "last": {"first", *users}, "other": {"last"}}
    assert dependents(["start"], edges) == ["first", *sorted(users), "last", "other"]
    assert dependents(["none", "last"], edges) == ["other"]


def test_of_names_that_are_alike_the_same_one_is_proposed():
    """D-S4-02: what is wrong with an answer goes back to the role word for word."""
    function = PublicFunction("f", tuple(FunctionParameter(name, "int", None) for name in reversed(NAMES)))
    assert "did you mean `name_a`?" in next(option_problems({"name": ""}, [function]))
