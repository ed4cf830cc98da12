import pytest

from modules.apply_patch import PatchError, apply_patch


def test_operations_in_order():
    patch = [
        {"op": "test", "path": "/a", "value": [1, 3]},
        {"op": "add", "path": "/a/1", "value": 2},
        {"op": "add", "path": "/a/-", "value": 4},
        {"op": "copy", "from": "/a/0", "path": "/b"},
        {"op": "replace", "path": "/b", "value": "x"},
        {"op": "move", "from": "/b", "path": "/c"},
        {"op": "remove", "path": "/a/0"},
    ]
    assert apply_patch({"a": [1, 3]}, patch) == {"a": [2, 3, 4], "c": "x"}
    assert apply_patch({"a": [1, 3]}, patch) == {"a": [2, 3, 4], "c": "x"}


@pytest.mark.parametrize("document", [{"a": [1, {"b": None}]}, [], {}, "text", 0, None])
def test_empty_patch(document):
    assert apply_patch(document, []) == document


@pytest.mark.parametrize(
    "document, patch, result",
    [
        ({"a": [1, 3]}, [{"op": "add", "path": "/a/1", "value": 2}, {"op": "add", "path": "/a/-", "value": 4}], {"a": [1, 2, 3, 4]}),
        ({"a": 1}, [{"op": "add", "path": "/b", "value": None}], {"a": 1, "b": None}),
        ({"a": 1}, [{"op": "add", "path": "/a", "value": [2]}], {"a": [2]}),
        ([1, 2], [{"op": "add", "path": "/0", "value": 0}], [0, 1, 2]),
        ([1, 2], [{"op": "add", "path": "/2", "value": 3}], [1, 2, 3]),
        ([], [{"op": "add", "path": "/0", "value": 1}], [1]),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8], [{"op": "add", "path": "/9", "value": 9}, {"op": "add", "path": "/10", "value": 10}], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ],
)
def test_add(document, patch, result):
    assert apply_patch(document, patch) == result


@pytest.mark.parametrize(
    "document, patch, result",
    [
        ({"a": 1}, [{"op": "add", "path": "", "value": [2]}], [2]),
        (5, [{"op": "replace", "path": "", "value": None}], None),
        ({"a": {"b": 1}}, [{"op": "copy", "path": "", "from": "/a"}], {"b": 1}),
        ({"a": 1}, [{"op": "move", "path": "", "from": "/a"}], 1),
        ({"a": 1}, [{"op": "copy", "path": "/b", "from": ""}], {"a": 1, "b": {"a": 1}}),
        ({"a": 1}, [{"op": "copy", "path": "", "from": ""}], {"a": 1}),
        ({"a": 1}, [{"op": "test", "path": "", "value": {"a": 1}}], {"a": 1}),
    ],
)
def test_whole_document(document, patch, result):
    assert apply_patch(document, patch) == result


@pytest.mark.parametrize(
    "document, patch, result",
    [
        ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}], {"b": 2}),
        ({"a": [1, 2, 3]}, [{"op": "remove", "path": "/a/1"}], {"a": [1, 3]}),
        ([1, 2, 3], [{"op": "remove", "path": "/0"}, {"op": "remove", "path": "/0"}], [3]),
        ({"a": None}, [{"op": "remove", "path": "/a"}], {}),
    ],
)
def test_remove(document, patch, result):
    assert apply_patch(document, patch) == result


@pytest.mark.parametrize(
    "document, patch, result",
    [
        ({"a": 1, "b": 2}, [{"op": "replace", "path": "/a", "value": None}], {"a": None, "b": 2}),
        ([1, 2, 3], [{"op": "replace", "path": "/2", "value": [9]}], [1, 2, [9]]),
        ({"a": {"b": 1}}, [{"op": "replace", "path": "/a", "value": {"c": 2}}], {"a": {"c": 2}}),
    ],
)
def test_replace(document, patch, result):
    assert apply_patch(document, patch) == result


@pytest.mark.parametrize(
    "document, patch, result",
    [
        ({"a": [1, 2, 3]}, [{"op": "move", "path": "/a/2", "from": "/a/0"}], {"a": [2, 3, 1]}),
        ({"a": [1, 2, 3]}, [{"op": "move", "path": "/a/-", "from": "/a/0"}], {"a": [2, 3, 1]}),
        ([1, 2, 3], [{"op": "move", "path": "/0", "from": "/2"}], [3, 1, 2]),
        ([1, [2], [3]], [{"op": "move", "path": "/1/0", "from": "/0"}], [[2], [1, 3]]),
        ({"a": 1, "b": 2}, [{"op": "move", "path": "/b", "from": "/a"}], {"b": 1}),
        ({"a": 1}, [{"op": "move", "path": "/ab", "from": "/a"}], {"ab": 1}),
        ({"a": {"b": 1}}, [{"op": "move", "path": "/a", "from": "/a/b"}], {"a": 1}),
        ({"a": 1}, [{"op": "move", "path": "/a", "from": "/a"}], {"a": 1}),
        ([1, 2], [{"op": "move", "path": "/1", "from": "/1"}], [1, 2]),
        ({"a": 1}, [{"op": "move", "path": "", "from": ""}], {"a": 1}),
    ],
)
def test_move(document, patch, result):
    assert apply_patch(document, patch) == result


@pytest.mark.parametrize(
    "document, patch, result",
    [
        ({}, [{"op": "add", "path": "/a", "value": []}, {"op": "copy", "path": "/b", "from": "/a"}, {"op": "add", "path": "/b/-", "value": 1}], {"a": [], "b": [1]}),
        ({"a": [{"x": []}]}, [{"op": "copy", "path": "/b", "from": "/a"}, {"op": "add", "path": "/a/0/x/-", "value": 1}], {"a": [{"x": [1]}], "b": [{"x": []}]}),
        ({"a": {}}, [{"op": "copy", "path": "/a/b", "from": "/a"}], {"a": {"b": {}}}),
        ([1, 2], [{"op": "copy", "path": "/0", "from": "/1"}], [2, 1, 2]),
    ],
)
def test_copy_is_independent(document, patch, result):
    assert apply_patch(document, patch) == result


@pytest.mark.parametrize(
    "document, value",
    [
        (1, 1.0),
        (0.0, 0),
        (-1, -1.0),
        (9007199254740992, 9007199254740992.0),
        (1e400, 1e400),
        (True, True),
        (None, None),
        ("\ud800", "\ud800"),
        ({"x": 1, "y": [2, {}]}, {"y": [2.0, {}], "x": 1}),
        ([{"a": {"b": 1, "c": 2}}], [{"a": {"c": 2, "b": 1}}]),
    ],
)
def test_test_of_equal_values(document, value):
    assert apply_patch(document, [{"op": "test", "path": "", "value": value}]) == document


def test_nan_equals_nan():
    patch = [{"op": "test", "path": "", "value": [float("nan"), 1]}, {"op": "remove", "path": "/0"}]
    assert apply_patch([float("nan"), 1], patch) == [1]


def test_nan_equals_no_other_value():
    with pytest.raises(PatchError):
        apply_patch([float("nan")], [{"op": "test", "path": "/0", "value": 1}])
    with pytest.raises(PatchError):
        apply_patch([1], [{"op": "test", "path": "/0", "value": float("nan")}])


@pytest.mark.parametrize(
    "document, patch, result",
    [
        ({"0": 1, "-": 2, "01": 3, "": 4}, [{"op": "remove", "path": "/0"}, {"op": "remove", "path": "/-"}, {"op": "remove", "path": "/01"}, {"op": "remove", "path": "/"}], {}),
        ({}, [{"op": "add", "path": "/-", "value": 1}, {"op": "add", "path": "/00", "value": 2}], {"-": 1, "00": 2}),
        ({"a/b": {"m~n": [[0]]}}, [{"op": "replace", "path": "/a~1b/m~0n/0/0", "value": 1}], {"a/b": {"m~n": [[1]]}}),
    ],
)
def test_tokens_are_names_in_objects(document, patch, result):
    assert apply_patch(document, patch) == result


def test_values_keep_their_type():
    patch = [
        {"op": "add", "path": "/-", "value": 2.0},
        {"op": "copy", "from": "/0", "path": "/-"},
        {"op": "test", "path": "/1", "value": 1},
        {"op": "replace", "path": "/2", "value": False},
    ]
    assert repr(apply_patch([1, 1.0, True], patch)) == "[1, 1.0, False, 2.0, 1]"


def test_deep_document_and_values():
    deep = []
    for _ in range(4899):
        deep = [deep]
    inner = "/0" * 4899
    patch = [
        {"op": "test", "path": "", "value": deep},
        {"op": "add", "path": inner + "/-", "value": "x"},
        {"op": "copy", "from": inner + "/0", "path": inner + "/-"},
        {"op": "replace", "path": inner + "/1", "value": "y"},
        {"op": "move", "from": inner + "/1", "path": inner + "/0"},
        {"op": "remove", "path": inner + "/1"},
        {"op": "add", "path": "/-", "value": deep},
        {"op": "copy", "from": "/1", "path": "/-"},
        {"op": "test", "path": "/2", "value": deep},
        {"op": "replace", "path": "/2", "value": deep},
        {"op": "move", "from": "/2", "path": "/1"},
    ]
    assert len(apply_patch(deep, patch)) == 3
    assert apply_patch(deep, [*patch, {"op": "move", "from": inner, "path": ""}]) == ["y"]


@pytest.mark.parametrize(
    "document, patch, result",
    [
        ({}, [{"op": "add", "path": "/a", "from": 5, "value": 1}], {"a": 1}),
        ({"a": 1}, [{"op": "remove", "path": "/a", "from": "~", "value": 2, "x": None}], {}),
        ({"a": 1}, [{"op": "move", "path": "/b", "from": "/a", "value": 2}], {"b": 1}),
        ({"a": 1}, [{"op": "copy", "path": "/b", "from": "/a", "value": 2}], {"a": 1, "b": 1}),
        ({"a": 1}, [{"op": "replace", "path": "/a", "from": "/b", "value": 2}], {"a": 2}),
        ({"a": 1}, [{"op": "test", "path": "/a", "from": [], "value": 1}], {"a": 1}),
    ],
)
def test_other_members_are_ignored(document, patch, result):
    assert apply_patch(document, patch) == result


@pytest.mark.parametrize(
    "document, operation",
    [
        ({}, None),
        ({}, 5),
        ({}, []),
        ({}, "add"),
        ({}, {}),
        ({"a": 1}, {"path": "/a"}),
        ({"a": 1}, {"op": "delete", "path": "/a"}),
        ({"a": 1}, {"op": "Remove", "path": "/a"}),
        ({}, {"op": [], "path": ""}),
        ({}, {"op": None, "path": "", "value": 1}),
    ],
)
def test_item_that_is_no_operation(document, operation):
    with pytest.raises(PatchError) as caught:
        apply_patch(document, [operation])
    assert caught.value.index == 0


@pytest.mark.parametrize(
    "document, operation",
    [
        ({"a": 1}, {"op": "add", "value": 1}),
        ({"a": 1}, {"op": "remove"}),
        ({"a": 1}, {"op": "replace", "value": 1}),
        ({"a": 1}, {"op": "move", "from": "/a"}),
        ({"a": 1}, {"op": "copy", "from": "/a"}),
        ({"a": 1}, {"op": "test", "value": 1}),
        ({"a": 1}, {"op": "move", "path": "/b"}),
        ({"a": 1}, {"op": "copy", "path": "/b"}),
        ({"a": 1}, {"op": "add", "path": "/b"}),
        ({"a": 1}, {"op": "replace", "path": "/a"}),
        ({"a": None}, {"op": "test", "path": "/a"}),
    ],
)
def test_missing_member(document, operation):
    with pytest.raises(PatchError) as caught:
        apply_patch(document, [operation])
    assert caught.value.index == 0


@pytest.mark.parametrize(
    "document, operation",
    [
        ({"a": 1}, {"op": "add", "path": 5, "value": 1}),
        ({"a": 1}, {"op": "replace", "path": None, "value": 1}),
        ({"a": 1}, {"op": "remove", "path": ["a"]}),
        ({"a": 1}, {"op": "add", "path": "a", "value": 1}),
        ({"~2": 1}, {"op": "remove", "path": "/~2"}),
        ({"a~": 1}, {"op": "test", "path": "/a~", "value": 1}),
        ({"a": 1}, {"op": "move", "path": "/b", "from": 5}),
        ({"a": 1}, {"op": "copy", "path": "/b", "from": None}),
        ({"a": 1}, {"op": "copy", "path": "/b", "from": "a"}),
        ({"~": 1}, {"op": "move", "path": "/b", "from": "/~"}),
    ],
)
def test_path_or_from_that_is_no_pointer(document, operation):
    with pytest.raises(PatchError) as caught:
        apply_patch(document, [operation])
    assert caught.value.index == 0


@pytest.mark.parametrize(
    "document, operation",
    [
        ({"a": 1}, {"op": "remove", "path": "/b"}),
        ({"a": 1}, {"op": "replace", "path": "/b", "value": 1}),
        ({"a": None}, {"op": "test", "path": "/b", "value": None}),
        ({"a": 1}, {"op": "move", "path": "/a", "from": "/b"}),
        ({"a": 1}, {"op": "copy", "path": "/c", "from": "/b"}),
        ({"a": 1}, {"op": "move", "path": "/b", "from": "/b"}),
        ([1], {"op": "remove", "path": "/1"}),
        ([1], {"op": "replace", "path": "/1", "value": 2}),
        ([1], {"op": "test", "path": "/2", "value": 1}),
        ([1], {"op": "move", "path": "/0", "from": "/1"}),
        ([], {"op": "copy", "path": "/0", "from": "/0"}),
        ([1], {"op": "remove", "path": "/-"}),
        ([1], {"op": "replace", "path": "/-", "value": 2}),
        ([1], {"op": "copy", "path": "/0", "from": "/-"}),
        ([1, 2], {"op": "remove", "path": "/01"}),
        ([1, 2], {"op": "test", "path": "/+1", "value": 2}),
        ([1, 2], {"op": "remove", "path": "/-1"}),
        ([1, 2], {"op": "replace", "path": "/\u0661", "value": 1}),
        ([1, 2], {"op": "remove", "path": "/"}),
        ({"a": "text"}, {"op": "remove", "path": "/a/0"}),
        ({"a": 1}, {"op": "test", "path": "/a/b", "value": 1}),
        ({"a": None}, {"op": "replace", "path": "/a/b", "value": 1}),
        ({"a": {}}, {"op": "remove", "path": "/a/b/c"}),
    ],
)
def test_place_that_names_nothing(document, operation):
    with pytest.raises(PatchError) as caught:
        apply_patch(document, [operation])
    assert caught.value.index == 0


def test_index_of_five_thousand_digits():
    with pytest.raises(PatchError) as caught:
        apply_patch([1, 2], [{"op": "replace", "path": "/" + "1" * 5000, "value": 0}])
    assert caught.value.index == 0


@pytest.mark.parametrize(
    "document, operation",
    [
        ({}, {"op": "add", "path": "/a/b", "value": 1}),
        ({"a": 1}, {"op": "copy", "path": "/b/c", "from": "/a"}),
        ({"a": 1}, {"op": "move", "path": "/b/c", "from": "/a"}),
        (5, {"op": "add", "path": "/a", "value": 1}),
        ({"a": "text"}, {"op": "add", "path": "/a/0", "value": 1}),
        ({"a": None}, {"op": "copy", "path": "/a/b", "from": "/a"}),
        ([1], {"op": "add", "path": "/2", "value": 2}),
        ([1], {"op": "copy", "path": "/2", "from": "/0"}),
        ({"a": [1, 2, 3]}, {"op": "move", "path": "/a/3", "from": "/a/0"}),
        ([], {"op": "add", "path": "/1", "value": 1}),
        ([1], {"op": "add", "path": "/00", "value": 1}),
        ([1], {"op": "add", "path": "/01", "value": 1}),
        ([1], {"op": "add", "path": "/+1", "value": 1}),
        ([1], {"op": "add", "path": "/", "value": 1}),
        ([1], {"op": "add", "path": "/a", "value": 1}),
        ([1], {"op": "add", "path": "/1.0", "value": 1}),
        ([[1]], {"op": "add", "path": "/-/0", "value": 1}),
    ],
)
def test_place_that_cannot_take_a_value(document, operation):
    with pytest.raises(PatchError) as caught:
        apply_patch(document, [operation])
    assert caught.value.index == 0


@pytest.mark.parametrize(
    "document, operation",
    [
        ({"a": {"b": 1}}, {"op": "move", "path": "/a/b", "from": "/a"}),
        ({"a": {"b": {}}}, {"op": "move", "path": "/a/b/c", "from": "/a"}),
        ({"a": 1}, {"op": "move", "path": "/a", "from": ""}),
        ([[1], [2]], {"op": "move", "path": "/0/0", "from": "/0"}),
    ],
)
def test_move_into_itself(document, operation):
    with pytest.raises(PatchError) as caught:
        apply_patch(document, [operation])
    assert caught.value.index == 0


@pytest.mark.parametrize(
    "document, value",
    [
        (True, 1),
        (1, True),
        (False, 0),
        (None, 0),
        (None, False),
        ("1", 1),
        (9007199254740993, 9007199254740992.0),
        (1e400, -1e400),
        ("a", "A"),
        ([1, 2], [2, 1]),
        ([1], [1, 2]),
        ([], {}),
        ({}, None),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1}),
        ({"a": [1, {"b": True}]}, {"a": [1, {"b": 1}]}),
    ],
)
def test_test_of_another_value(document, value):
    with pytest.raises(PatchError) as caught:
        apply_patch(document, [{"op": "test", "path": "", "value": value}])
    assert caught.value.index == 0


@pytest.mark.parametrize("document", [{"a": 1}, [], 5])
def test_whole_document_cannot_be_removed(document):
    with pytest.raises(PatchError) as caught:
        apply_patch(document, [{"op": "remove", "path": ""}])
    assert caught.value.index == 0


@pytest.mark.parametrize(
    "patch, index",
    [
        ([{"op": "add", "path": "/a", "value": 1}, {"op": "remove", "path": "/b"}, {"op": "unknown"}], 1),
        ([{"op": "test", "path": "", "value": 0}, {"op": "add", "path": "", "value": 1}], 0),
        ([{"op": "add", "path": "/a", "value": 1}, {"op": "add", "path": "/b", "value": 1}, 7], 2),
    ],
)
def test_error_tells_the_first_failure(patch, index):
    with pytest.raises(PatchError) as caught:
        apply_patch({}, patch)
    assert isinstance(caught.value, ValueError)
    assert caught.value.index == index
    assert caught.value.reason != ""
    assert caught.value.reason in str(caught.value)
    assert str(index) in str(caught.value)
