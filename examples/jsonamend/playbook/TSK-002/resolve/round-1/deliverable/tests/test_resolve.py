import pytest

from modules.resolve import PointerLookupError, resolve


def test_value_deep_inside_with_escapes():
    assert resolve({"a/b": [10, {"m~n": None}]}, "/a~1b/1/m~0n") is None


@pytest.mark.parametrize("document", [{"": 1}, [1], "text", 7, 1.5, True, None, {}, []])
def test_empty_pointer_gives_the_whole_document(document):
    assert resolve(document, "") == document


@pytest.mark.parametrize(
    "document, pointer, value",
    [
        ({"": 1}, "/", 1),
        ({"0": "x", "-": "y", "01": "z"}, "/01", "z"),
        ({"0": "x", "-": "y", "01": "z"}, "/-", "y"),
        ({"0": "x", "-": "y", "01": "z"}, "/0", "x"),
        ({"~1": {"/": 5}}, "/~01/~1", 5),
        (["a", "b"], "/0", "a"),
        (["a", "b"], "/1", "b"),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ["last"]], "/10/0", "last"),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, "ninth", 10], "/9", "ninth"),
        ({"a": {"b": [1, 2]}}, "/a", {"b": [1, 2]}),
    ],
)
def test_tokens_lead_to_members_and_items(document, pointer, value):
    assert resolve(document, pointer) == value


def test_deep_document():
    document = []
    for _ in range(4999):
        document = [document]
    assert resolve(document, "/0" * 4999) == []


@pytest.mark.parametrize(
    "document, pointer",
    [
        ({"a": 1}, "a"),
        ({"a": 1}, "#/a"),
        ({"~2": 1}, "/~2"),
        ({"a~": 1}, "/a~"),
    ],
)
def test_malformed_pointer(document, pointer):
    with pytest.raises(PointerLookupError) as caught:
        resolve(document, pointer)
    assert isinstance(caught.value, ValueError)
    assert caught.value.pointer == pointer
    assert pointer in str(caught.value)


@pytest.mark.parametrize(
    "document, pointer",
    [
        ({"a": 1}, "/b"),
        ({"a": {"b": 1}}, "/a/c"),
        ({}, "/"),
        ({}, "/\ud800"),
    ],
)
def test_missing_member(document, pointer):
    with pytest.raises(PointerLookupError) as caught:
        resolve(document, pointer)
    assert isinstance(caught.value, ValueError)
    assert caught.value.pointer == pointer
    assert pointer in str(caught.value)


@pytest.mark.parametrize(
    "document, pointer",
    [
        ([1, 2], "/-"),
        ([1, 2], "/"),
        ([1, 2], "/00"),
        ([1, 2], "/01"),
        ([1, 2], "/+1"),
        ([1, 2], "/-1"),
        ([1, 2], "/1.0"),
        ([1, 2], "/ 1"),
        ([1, 2], "/1_0"),
        ([1, 2], "/a"),
        ([1, 2], "/\u0661"),
        ([1], "/0\n"),
    ],
)
def test_token_that_is_no_index(document, pointer):
    with pytest.raises(PointerLookupError) as caught:
        resolve(document, pointer)
    assert isinstance(caught.value, ValueError)
    assert caught.value.pointer == pointer
    assert pointer in str(caught.value)


@pytest.mark.parametrize(
    "document, pointer",
    [
        ([], "/0"),
        ([1, 2], "/2"),
        ([1, 2], "/3"),
        ([1, 2], "/10"),
        ({"a": [[1]]}, "/a/0/1"),
    ],
)
def test_index_past_the_end(document, pointer):
    with pytest.raises(PointerLookupError) as caught:
        resolve(document, pointer)
    assert isinstance(caught.value, ValueError)
    assert caught.value.pointer == pointer
    assert pointer in str(caught.value)


def test_index_of_five_thousand_digits():
    with pytest.raises(PointerLookupError) as caught:
        resolve([1, 2], "/" + "1" * 5000)
    assert caught.value.pointer == "/" + "1" * 5000


@pytest.mark.parametrize(
    "document, pointer",
    [
        ({"a": "text"}, "/a/0"),
        ({"a": 1}, "/a/0"),
        ({"a": 1.5}, "/a/0"),
        ({"a": True}, "/a/0"),
        ({"a": None}, "/a/0"),
        (None, "/"),
    ],
)
def test_value_that_is_neither_object_nor_array(document, pointer):
    with pytest.raises(PointerLookupError) as caught:
        resolve(document, pointer)
    assert isinstance(caught.value, ValueError)
    assert caught.value.pointer == pointer
    assert pointer in str(caught.value)
