"""What every implementation of the Code Index port does (F§14, F§16, F§19.5).

A test class inherits `CodeIndexBehaviour` and gives it the fixture `index`, an empty index embedded by
`WordEmbedder` (texts that share words are near each other).
"""

import pytest

from specwright.domain.modules.code_index import CodeIndexEntry, IndexStatus
from specwright.errors import InputError, RefusedError
from specwright.ports import CodeIndex, IndexQuery
from testkit.index_entries import entry, retirement

__all__ = ["CodeIndexBehaviour"]


def found(index: CodeIndex, **fields: object) -> list[str]:
    """The references that a search finds, best first."""
    return [hit.entry.ref for hit in index.search(IndexQuery(**{"query": "anything"} | fields))]


def refs(*numbers: int) -> list[str]:
    """References of the first version of modules."""
    return [f"MM-{number:08x}@1.0.0" for number in numbers]


class CodeIndexBehaviour:
    """The behaviour suite of the port."""

    def test_an_added_entry_is_there_as_it_was_given(self, index: CodeIndex):
        """An entry is stored with every field of F§14.2 (F-14.1-09)."""
        original = entry(
            1, "turn a title into a slug", tags=["a", "b"], notes="first", dependencies=["MM-0@1"]
        )
        index.add(original)
        assert index.get("MM-00000001", "1.0.0") == original
        assert index.get("MM-00000001", "1.0.1") is None
        assert index.get("MM-00000002", "1.0.0") is None

    def test_entries_stand_in_the_order_in_which_they_were_added(self, index: CodeIndex):
        """The index is a ledger: entries keep their order (F-14.1-01)."""
        original = [entry(number) for number in (3, 1, 2)]
        for each in original:
            index.add(each)
        assert index.entries() == original

    def test_adding_the_same_entry_again_does_nothing(self, index: CodeIndex):
        """A resumed run may add again what it has added, even once that is retired (F-14.1-02)."""
        original = entry(1)
        index.add(original)
        index.add(original)
        index.retire(retirement("MM-00000001@1.0.0"))
        index.add(original)
        assert [each.status for each in index.entries()] == [IndexStatus.DEPRECATED]

    def test_a_key_is_never_used_for_another_entry(self, index: CodeIndex):
        """No key reuse: module id and version belong to one entry for ever (F-14.1-02, F§19.5)."""
        index.add(entry(1, "the first"))
        with pytest.raises(RefusedError):
            index.add(entry(1, "the second"))
        index.retire(retirement("MM-00000001@1.0.0"))
        with pytest.raises(RefusedError):
            index.add(entry(1, "the second"))
        assert [each.purpose for each in index.entries()] == ["the first"]

    def test_versions_of_one_module_are_entries_of_their_own(self, index: CodeIndex):
        """The key is module id and version together (F-14.1-02)."""
        index.add(entry(1))
        index.add(entry(1, version="1.1.0"))
        assert [each.version for each in index.entries()] == ["1.0.0", "1.1.0"]

    @pytest.mark.parametrize("status", [IndexStatus.DEPRECATED, IndexStatus.SUPERSEDED])
    def test_an_entry_begins_as_shipped(self, index: CodeIndex, status: IndexStatus):
        """The ledger is one of shipped modules; other statuses are reached from SHIPPED (F-14.1-02)."""
        with pytest.raises(RefusedError):
            index.add(entry(1, status=status, superseded_by="MM-00000002@1.0.0"))
        assert index.entries() == []

    def test_an_empty_index_finds_nothing(self, index: CodeIndex):
        """A search before the first module is no error (F-14.3-04)."""
        assert index.search(IndexQuery("anything")) == []

    def test_what_shares_meaning_with_the_query_comes_first(self, index: CodeIndex):
        """Results are ranked by cosine similarity, descending (F-14.3-04)."""
        index.add(entry(1, "parse comma separated values", tags=[]))
        index.add(entry(2, "turn a title into a slug", tags=[]))
        index.add(entry(3, "make a slug", tags=[]))
        hits = index.search(IndexQuery("turn a title into a slug"))
        assert [hit.entry.ref for hit in hits[:2]] == refs(2, 3)
        scores = [hit.similarity_score for hit in hits]
        assert scores == sorted(scores, reverse=True)

    def test_every_result_is_the_whole_entry_with_a_score_from_0_to_1(self, index: CodeIndex):
        """A result is the full entry and its similarity in [0, 1] (F-14.3-05)."""
        original = entry(1, "same words")
        index.add(original)
        (hit,) = index.search(IndexQuery("same words text"))
        assert hit.entry == original
        assert isinstance(hit.entry, CodeIndexEntry)
        assert type(hit.similarity_score) is float
        assert 0.0 < hit.similarity_score <= 1.0

    def test_there_is_no_threshold(self, index: CodeIndex):
        """`top_k` entries come back whatever their score, and never more (F-14.3-01, F-14.3-04)."""
        for number in range(12):
            index.add(entry(number))
        assert len(found(index, query="zxqj vvkp")) == 10
        assert len(found(index, query="zxqj vvkp", top_k=3)) == 3
        assert len(found(index, query="zxqj vvkp", top_k=100)) == 12

    @pytest.mark.parametrize("query", ["", "\ud800", "\x00", "x" * 100_000])
    def test_any_text_is_a_query(self, index: CodeIndex, query: str):
        """A query is what a model wrote: no text breaks the search (F-14.3-01)."""
        index.add(entry(1))
        assert found(index, query=query) == refs(1)
        assert found(index, query=query, tags=(query,), input_types=(query,)) == []

    def test_filters_come_before_ranking(self, index: CodeIndex):
        """What is filtered out takes no place among the `top_k` (F-14.3-02)."""
        index.add(entry(1, "turn a title into a slug", tags=["other"]))
        index.add(entry(2, "parse comma separated values", tags=["wanted"]))
        assert found(index, query="turn a title into a slug", tags=("wanted",), top_k=1) == refs(2)

    def test_one_match_within_a_list_is_enough_and_every_list_must_match(self, index: CodeIndex):
        """At least one match within each filter list, AND across lists (F-14.3-02)."""
        index.add(entry(1, tags=["a", "b"], inputs=["x: int"], outputs=["y: str"]))
        index.add(entry(2, tags=["b"], inputs=["x: str", "z: int"], outputs=["y: int"]))
        index.add(entry(3, tags=["c"], inputs=["x: int"], outputs=["y: str"]))
        index.add(entry(4, tags=[], inputs=[], outputs=[]))
        assert sorted(found(index)) == refs(1, 2, 3, 4)
        assert sorted(found(index, tags=("b", "nowhere"))) == refs(1, 2)
        assert sorted(found(index, tags=("a", "c"))) == refs(1, 3)
        assert sorted(found(index, input_types=("int",))) == refs(1, 2, 3)
        assert sorted(found(index, input_types=("int",), output_types=("str", "bytes"))) == refs(1, 3)
        assert sorted(found(index, tags=("b",), input_types=("int",), output_types=("int",))) == refs(2)
        assert found(index, tags=("c",), output_types=("int",)) == []

    def test_types_are_compared_whole_in_one_spelling(self, index: CodeIndex):
        """`list[int]` is not `int`, and spaces and quotes do not matter (F-14.3-02)."""
        index.add(entry(1, inputs=["x: dict[str, list[int]] (non-empty; at most 3)"]))
        index.add(entry(2, inputs=["x: Literal['a (b)', 'c'] (one of 'a (b)' or 'c')"]))
        assert found(index, input_types=("dict[ str,list[int] ]",)) == refs(1)
        assert found(index, input_types=('Literal["a (b)","c"]',)) == refs(2)
        for part in ("list[int]", "int", "dict", "Literal", "str (non-empty)"):
            assert found(index, input_types=(part,)) == []

    def test_tags_are_compared_whole(self, index: CodeIndex):
        """A tag is not its beginning, nor a pattern (F-14.3-02)."""
        index.add(entry(1, tags=["text-processing"]))
        for tag in ("text", "text%", "text*", "Text-Processing"):
            assert found(index, tags=(tag,)) == []

    def test_retired_entries_are_found_only_on_demand(self, index: CodeIndex):
        """DEPRECATED and SUPERSEDED entries are left out unless `include_inactive` (F-14.3-03)."""
        for number in (1, 2, 3):
            index.add(entry(number))
        assert sorted(found(index)) == refs(1, 2, 3)
        index.retire(retirement("MM-00000001@1.0.0"))
        assert sorted(found(index)) == refs(2, 3)
        index.retire(retirement("MM-00000002@1.0.0", "MM-00000003@1.0.0", status=IndexStatus.SUPERSEDED))
        assert found(index) == refs(3)
        assert found(index, tags=("text",)) == refs(3)
        assert sorted(found(index, include_inactive=True)) == refs(1, 2, 3)
        assert sorted(found(index, tags=("text",), include_inactive=True)) == refs(1, 2, 3)

    def test_a_result_shows_what_has_become_of_its_entry(self, index: CodeIndex):
        """Consumers discover a deprecation by searching: what changed is shown (F-16-02)."""
        index.add(entry(1, notes="as shipped"))
        index.retire(retirement("MM-00000001@1.0.0", "MM-00000001@2.0.0", status=IndexStatus.SUPERSEDED))
        (hit,) = index.search(IndexQuery("purpose", include_inactive=True))
        assert hit.entry.status is IndexStatus.SUPERSEDED
        assert hit.entry.superseded_by == "MM-00000001@2.0.0"
        assert hit.entry.notes.startswith("as shipped\nSuperseded 2026-11-24")

    def test_the_port_also_filters_by_status_module_and_version(self, index: CodeIndex):
        """Metadata filters: status, module_id and version range (F-14.1-04)."""
        for version in ("1.0.0", "1.9.0", "1.10.0", "2.0.0"):
            index.add(entry(1, version=version))
        index.add(entry(2))
        index.retire(retirement("MM-00000001@1.0.0"))
        assert found(index, statuses=(IndexStatus.DEPRECATED,)) == refs(1)
        assert sorted(found(index, statuses=tuple(IndexStatus), module_ids=("MM-00000002",))) == refs(2)
        of_one = {"module_ids": ("MM-00000001",)}
        assert set(found(index, version_from="1.9.0", version_below="2.0.0", **of_one)) == {
            "MM-00000001@1.9.0",
            "MM-00000001@1.10.0",
        }
        assert found(index, version_from="1.10.1", **of_one) == ["MM-00000001@2.0.0"]
        assert found(index, version_below="1.0.1", include_inactive=True, **of_one) == refs(1)
        assert len(found(index, version_from="0.0.0")) == 4

    @pytest.mark.parametrize(
        "fields", [{"top_k": 0}, {"top_k": -1}, {"version_from": "1"}, {"version_below": "x"}]
    )
    def test_a_query_that_cannot_be_answered_is_refused(self, index: CodeIndex, fields: dict[str, object]):
        """A search says what is wrong with its query instead of finding something else (F-14.3-01)."""
        index.add(entry(1))
        with pytest.raises(InputError):
            index.search(IndexQuery("x", **fields))

    @pytest.mark.parametrize("replacement", [None, "MM-00000002@1.0.0"])
    def test_retiring_sets_status_successor_and_notes(self, index: CodeIndex, replacement: str | None):
        """`deprecate` sets DEPRECATED, a successor or none, and appends its note (D-27-01, F-14.3-08, F-16-02, F-16-03)."""
        original = entry(1, notes="as shipped")
        index.add(original)
        decided = retirement("MM-00000001@1.0.0", replacement)
        index.retire(decided)
        changed = {
            "status": IndexStatus.DEPRECATED,
            "superseded_by": replacement,
            "notes": f"as shipped\n{decided.notice}",
        }
        assert index.get("MM-00000001", "1.0.0") == original.model_copy(update=changed)
        assert index.entries() == [original.model_copy(update=changed)]

    def test_repeating_a_retirement_does_nothing(self, index: CodeIndex):
        """A resumed run may retire again what it has retired; the note stands once (D-27-01)."""
        index.add(entry(1, notes="as shipped"))
        for _ in range(2):
            index.retire(retirement("MM-00000001@1.0.0"))
        assert [each.notes for each in index.entries()] == [
            f"as shipped\n{retirement('MM-00000001@1.0.0').notice}"
        ]

    @pytest.mark.parametrize(
        ("status", "superseded_by", "why"),
        [
            (IndexStatus.SHIPPED, None, "back"),
            (IndexStatus.DEPRECATED, None, "another note"),
            (IndexStatus.DEPRECATED, "MM-00000002@1.0.0", "It is old."),
            (IndexStatus.SUPERSEDED, "MM-00000002@1.0.0", "It is old."),
        ],
    )
    def test_a_status_goes_one_way(
        self, index: CodeIndex, status: IndexStatus, superseded_by: str | None, why: str
    ):
        """SHIPPED -> DEPRECATED or SUPERSEDED, once and never back (F-14.1-02, F§19.5)."""
        index.add(entry(1))
        index.retire(retirement("MM-00000001@1.0.0"))
        before = index.entries()
        with pytest.raises(RefusedError):
            index.retire(retirement("MM-00000001@1.0.0", superseded_by, status, why))
        assert index.entries() == before

    def test_only_what_is_there_is_retired(self, index: CodeIndex):
        """Another version of it is another entry (F-14.1-03)."""
        index.add(entry(1))
        with pytest.raises(RefusedError):
            index.retire(retirement("MM-00000001@9.9.9"))
        assert index.entries() == [entry(1)]
