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
        """With every field of F§14.2, in the order in which it was added; the key is module id and version together
        (F-14.1-01, F-14.1-02, F-14.1-09)."""
        whole = entry(1, "turn a title into a slug", tags=["a", "b"], notes="first", dependencies=["MM-0@1"])
        original = [entry(3), whole, entry(2), entry(1, version="1.1.0")]
        for each in original:
            index.add(each)
        assert index.entries() == original
        assert index.get("MM-00000001", "1.0.0") == whole
        assert index.get("MM-00000001", "1.0.1") is None
        assert index.get("MM-00000004", "1.0.0") is None

    def test_adding_the_same_entry_again_does_nothing(self, index: CodeIndex):
        """A resumed run may add again what it has added, even once that is retired; module id and version belong to one
        entry for ever (F-14.1-02, F§19.5)."""
        original = entry(1, "the first")
        for _ in range(2):
            index.add(original)
            with pytest.raises(RefusedError):
                index.add(entry(1, "the second"))
        index.retire(retirement("MM-00000001@1.0.0"))
        index.add(original)
        with pytest.raises(RefusedError):
            index.add(entry(1, "the second"))
        assert [(e.status, e.purpose) for e in index.entries()] == [(IndexStatus.DEPRECATED, "the first")]

    def test_an_entry_begins_as_shipped(self, index: CodeIndex):
        """The ledger is one of shipped modules; other statuses are reached from SHIPPED (F-14.1-02)."""
        for status in (IndexStatus.DEPRECATED, IndexStatus.SUPERSEDED):
            with pytest.raises(RefusedError):
                index.add(entry(1, status=status, superseded_by="MM-00000002@1.0.0"))
        assert index.entries() == []

    def test_what_shares_meaning_with_the_query_comes_first(self, index: CodeIndex):
        """Full entries, ranked by cosine similarity in [0, 1], descending (F-14.3-04, F-14.3-05)."""
        near = entry(2, "turn a title into a slug", tags=[])
        for each in (
            entry(1, "parse comma separated values", tags=[]),
            near,
            entry(3, "make a slug", tags=[]),
        ):
            index.add(each)
        hits = index.search(IndexQuery("turn a title into a slug"))
        assert [hit.entry.ref for hit in hits[:2]] == refs(2, 3)
        assert hits[0].entry == near
        assert {type(hit.entry) for hit in hits} == {CodeIndexEntry}
        scores = [hit.similarity_score for hit in hits]
        assert {type(score) for score in scores} == {float}
        assert scores == sorted(scores, reverse=True)
        assert 0.0 < scores[0] <= 1.0
        assert scores[-1] >= 0.0

    def test_there_is_no_threshold(self, index: CodeIndex):
        """`top_k` entries come back whatever their score, and never more (F-14.3-01, F-14.3-04)."""
        for number in range(12):
            index.add(entry(number))
        assert len(found(index, query="zxqj vvkp")) == 10
        assert len(found(index, query="zxqj vvkp", top_k=3)) == 3
        assert len(found(index, query="zxqj vvkp", top_k=100)) == 12

    def test_any_text_is_a_query(self, index: CodeIndex):
        """A search before the first module is no error, and no text that a model wrote breaks one; a query that cannot be
        answered is refused instead of finding something else (F-14.3-01, F-14.3-04)."""
        assert index.search(IndexQuery("anything")) == []
        index.add(entry(1))
        for query in ("", "\ud800", "\x00", "x" * 100_000):
            assert found(index, query=query) == refs(1)
            assert found(index, query=query, tags=(query,), input_types=(query,)) == []
        for query in (
            IndexQuery("x", top_k=0),
            IndexQuery("x", top_k=-1),
            IndexQuery("x", version_from="1"),
            IndexQuery("x", version_below="x"),
        ):
            with pytest.raises(InputError):
                index.search(query)

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

    def test_types_and_tags_are_compared_whole(self, index: CodeIndex):
        """`list[int]` is not `int`, and spaces and quotes do not matter; a tag is not its beginning, nor a pattern
        (F-14.3-02)."""
        index.add(
            entry(1, inputs=["x: dict[str, list[int]] (non-empty; at most 3)"], tags=["text-processing"])
        )
        index.add(entry(2, inputs=["x: Literal['a (b)', 'c'] (one of 'a (b)' or 'c')"]))
        assert found(index, input_types=("dict[ str,list[int] ]",)) == refs(1)
        assert found(index, input_types=('Literal["a (b)","c"]',)) == refs(2)
        for part in ("list[int]", "int", "dict", "Literal", "str (non-empty)"):
            assert found(index, input_types=(part,)) == []
        for tag in ("text-", "text%", "text*", "Text-Processing"):
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

    def test_retiring_sets_status_successor_and_notes(self, index: CodeIndex):
        """`deprecate` sets DEPRECATED, a successor or none, and appends its note; a resumed run may retire again what it has
        retired, and the note stands once (D-27-01, F-14.3-08, F-16-02, F-16-03)."""
        retired: list[CodeIndexEntry] = []
        for number, replacement in ((1, None), (2, "MM-00000003@1.0.0")):
            original = entry(number, notes="as shipped")
            index.add(original)
            decided = retirement(original.ref, replacement)
            for _ in range(2):
                index.retire(decided)
            changed = {"superseded_by": replacement, "notes": f"as shipped\n{decided.notice}"}
            retired.append(original.model_copy(update={"status": IndexStatus.DEPRECATED, **changed}))
        assert index.get("MM-00000001", "1.0.0") == retired[0]
        assert index.entries() == retired

    def test_a_status_goes_one_way(self, index: CodeIndex):
        """SHIPPED -> DEPRECATED or SUPERSEDED, once and never back; another version is another entry (F-14.1-02, F-14.1-03,
        F§19.5)."""
        index.add(entry(1))
        with pytest.raises(RefusedError):
            index.retire(retirement("MM-00000001@9.9.9"))
        assert index.entries() == [entry(1)]
        index.retire(retirement("MM-00000001@1.0.0"))
        before = index.entries()
        for status, superseded_by, why in (
            (IndexStatus.SHIPPED, None, "back"),
            (IndexStatus.DEPRECATED, None, "another note"),
            (IndexStatus.DEPRECATED, "MM-00000002@1.0.0", "It is old."),
            (IndexStatus.SUPERSEDED, "MM-00000002@1.0.0", "It is old."),
        ):
            with pytest.raises(RefusedError):
                index.retire(retirement("MM-00000001@1.0.0", superseded_by, status, why))
            assert index.entries() == before
