import pytest

from modules.make_patch import make_patch


def carried_out(document, operations):
    top = {"": document}
    for operation in operations:
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in operation["path"].split("/")]
        place = top
        for token in tokens[:-1]:
            place = place[token] if isinstance(place, dict) else place[int(token)]
        key = tokens[-1] if isinstance(place, dict) else int(tokens[-1])
        if operation["op"] == "remove":
            del place[key]
        elif operation["op"] == "add" and isinstance(place, list):
            place.insert(key, operation["value"])
        else:
            place[key] = operation["value"]
    return top[""]


def test_change_deep_inside():
    assert make_patch({"a": [{"b": 1, "c": 2}, 5]}, {"a": [{"b": 1, "c": 3}, 5]}) == [
        {"op": "replace", "path": "/a/0/c", "value": 3}
    ]


def test_change_in_a_large_document():
    source = {"rows": [{"id": number, "tags": ["x", number]} for number in range(2000)], "n": 1}
    target = {"rows": [{"id": number, "tags": ["x", number]} for number in range(2000)], "n": 1}
    target["rows"][1234]["tags"][1] = None
    assert make_patch(source, target) == [{"op": "replace", "path": "/rows/1234/tags/1", "value": None}]


@pytest.mark.parametrize(
    "source, target",
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (1, 1.0),
        ([], []),
        ({}, {}),
        (None, None),
        (True, True),
        ("\ud800", "\ud800"),
        (1e400, 1e400),
        (9007199254740992, 9007199254740992.0),
        ([{"a": [1, {"b": 2}]}], [{"a": [1.0, {"b": 2.0}]}]),
    ],
)
def test_equal_documents(source, target):
    assert make_patch(source, target) == []


def test_nan_equals_nan():
    assert make_patch([float("nan"), {"a": float("nan")}], [float("nan"), {"a": float("nan")}]) == []
    assert make_patch([float("nan")], ["NaN"]) == [{"op": "replace", "path": "/0", "value": "NaN"}]


@pytest.mark.parametrize(
    "source, target",
    [
        (1, "x"),
        ("1", 1),
        (True, 1),
        (1, True),
        (None, 0),
        (False, 0),
        (None, False),
        ([], {}),
        ({}, []),
        ([1], 1),
        ({"a": 1}, None),
        ("a", ["a"]),
        (9007199254740993, 9007199254740992.0),
        (1e400, -1e400),
    ],
)
def test_values_of_which_one_replaces_the_other(source, target):
    assert make_patch(source, target) == [{"op": "replace", "path": "", "value": target}]
    assert make_patch({"m": [source]}, {"m": [target]}) == [{"op": "replace", "path": "/m/0", "value": target}]


@pytest.mark.parametrize(
    "source, target, operations",
    [
        (
            {"a": 1, "b": 2},
            {"c": 3, "b": 4},
            [
                {"op": "remove", "path": "/a"},
                {"op": "replace", "path": "/b", "value": 4},
                {"op": "add", "path": "/c", "value": 3},
            ],
        ),
        (
            {"z": 1, "y": {"k": 1, "l": 2}, "x": 3, "b": 5},
            {"q": [1], "x": 4, "y": {"m": 3, "k": 2}, "p": None},
            [
                {"op": "remove", "path": "/z"},
                {"op": "remove", "path": "/b"},
                {"op": "remove", "path": "/y/l"},
                {"op": "replace", "path": "/y/k", "value": 2},
                {"op": "add", "path": "/y/m", "value": 3},
                {"op": "replace", "path": "/x", "value": 4},
                {"op": "add", "path": "/q", "value": [1]},
                {"op": "add", "path": "/p", "value": None},
            ],
        ),
        ({}, {"a": {"b": 1}}, [{"op": "add", "path": "/a", "value": {"b": 1}}]),
    ],
)
def test_objects(source, target, operations):
    assert make_patch(source, target) == operations


@pytest.mark.parametrize(
    "source, target, operations",
    [
        ([1, 2, 3], [2, 3], [{"op": "remove", "path": "/0"}]),
        ([2, 3], [1, 2, 3], [{"op": "add", "path": "/0", "value": 1}]),
        ([1, 2, 3, 4], [1, 4], [{"op": "remove", "path": "/2"}, {"op": "remove", "path": "/1"}]),
        ([1, 1], [1], [{"op": "remove", "path": "/1"}]),
        ([1], [1, 1], [{"op": "add", "path": "/1", "value": 1}]),
        ([{"a": 1}, [2]], [0, {"a": 1.0}, [2]], [{"op": "add", "path": "/0", "value": 0}]),
        (
            [1, [2], {"a": 3}, 4],
            [1, [5], {"a": 6}, 4],
            [{"op": "replace", "path": "/1/0", "value": 5}, {"op": "replace", "path": "/2/a", "value": 6}],
        ),
        (
            [1, 2, 3],
            [4, 2, 5],
            [{"op": "replace", "path": "/0", "value": 4}, {"op": "replace", "path": "/2", "value": 5}],
        ),
    ],
)
def test_arrays_keep_their_equal_ends(source, target, operations):
    assert make_patch(source, target) == operations


@pytest.mark.parametrize(
    "source, target, operations",
    [
        (
            [1, 2, 3],
            [9],
            [
                {"op": "replace", "path": "/0", "value": 9},
                {"op": "remove", "path": "/2"},
                {"op": "remove", "path": "/1"},
            ],
        ),
        ([], [1, 2], [{"op": "add", "path": "/0", "value": 1}, {"op": "add", "path": "/1", "value": 2}]),
        (
            [0, {"a": 1}, 5, 6, 9],
            [0, {"a": 2}, 9],
            [
                {"op": "replace", "path": "/1/a", "value": 2},
                {"op": "remove", "path": "/3"},
                {"op": "remove", "path": "/2"},
            ],
        ),
        (
            [0, 1, 9],
            [0, 2, [3], 4, 9],
            [
                {"op": "replace", "path": "/1", "value": 2},
                {"op": "add", "path": "/2", "value": [3]},
                {"op": "add", "path": "/3", "value": 4},
            ],
        ),
    ],
)
def test_surplus_items_of_arrays(source, target, operations):
    assert make_patch(source, target) == operations


@pytest.mark.parametrize(
    "source, target, operations",
    [
        ({"a/b": {"m~n": 1}}, {"a/b": {"m~n": 2}}, [{"op": "replace", "path": "/a~1b/m~0n", "value": 2}]),
        ({"": 1}, {"": 2}, [{"op": "replace", "path": "/", "value": 2}]),
        ({"~1": 1}, {}, [{"op": "remove", "path": "/~01"}]),
        ({}, {"/~": 1}, [{"op": "add", "path": "/~1~0", "value": 1}]),
        ({"\ud800 %": [0]}, {"\ud800 %": []}, [{"op": "remove", "path": "/\ud800 %/0"}]),
    ],
)
def test_paths(source, target, operations):
    assert make_patch(source, target) == operations


def test_values_have_the_type_of_target():
    assert repr(make_patch({"a": True, "b": [0, "x"]}, {"a": 2.0, "b": [False, "x"], "c": [1, 1.0, True]})) == (
        "[{'op': 'replace', 'path': '/a', 'value': 2.0}, "
        "{'op': 'replace', 'path': '/b/0', 'value': False}, "
        "{'op': 'add', 'path': '/c', 'value': [1, 1.0, True]}]"
    )


@pytest.mark.parametrize(
    "source, target",
    [
        ({"a": [1, 2, {"b": [3]}], "c": "x"}, {"a": [2, {"b": []}, 7], "d": {"c": "x"}}),
        ([[1, 2], [3, 4], [5]], [[5], [3], [1, 2], [3, 4]]),
        ({"~": {"/": [1]}, "": 0}, {"~": {"/": [0, 1, 2]}, "~1": 0}),
        ([1, {"a": None}], {"a": [1]}),
    ],
)
def test_operations_lead_to_target(source, target):
    assert carried_out(source, make_patch(source, target)) == target


def test_deep_documents():
    source, target = ["x"], ["y"]
    for _ in range(4899):
        source, target = [source], [target]
    assert make_patch(source, target) == [{"op": "replace", "path": "/0" * 4900, "value": "y"}]
    assert make_patch(source, source) == []
    operations = make_patch({}, target)
    assert [operation["path"] for operation in operations] == [""]
    value = operations[0]["value"]
    for _ in range(4899):
        value = value[0]
    assert value == ["y"]
