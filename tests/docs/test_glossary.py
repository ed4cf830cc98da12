"""Names use the words of docs/glossary.md: each word is defined there or ordinary, and some are not used at all."""

import pytest

from testkit.documents import generator_of

generator = generator_of("make_glossary_words")
REFRESH = "`.venv/bin/python docs/make_glossary_words.py` refreshes the lists; read what changed before you commit it"


def _glossary() -> str:
    return generator.GLOSSARY.read_text(encoding="utf-8")


def test_no_name_has_a_banned_word_but_those_that_are_listed():
    """A name says what a thing is; participles, adverbs and private words do not. The list may only become shorter."""
    listed = generator.LEFT.read_text(encoding="utf-8").splitlines()

    assert [line for line in generator.banned(generator.PACKAGE) if line not in listed] == [], REFRESH


def test_every_word_of_a_class_or_module_is_defined_or_ordinary():
    """A new word in a name needs a definition, or a person's look that it is an ordinary one."""
    glossary = _glossary()

    unknown = generator.used(generator.PACKAGE) - generator.terms(glossary) - generator.ordinary(glossary)
    assert unknown == set(), REFRESH


def test_a_defined_word_is_no_ordinary_one():
    """The list at the end holds none of the terms above it, and no banned word that no name has."""
    glossary = _glossary()

    assert generator.ordinary(glossary) & generator.terms(glossary) == set(), REFRESH


def test_each_term_is_defined_once():
    """Two definitions of one term are two meanings."""
    terms = [term.lower() for term in generator._TERM.findall(_glossary())]

    assert [term for term in terms if terms.count(term) > 1] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SqliteWireLog", ["sqlite", "wire", "log"]),
        ("task_board", ["task", "board"]),
        ("_HTTPServer", ["http", "server"]),
        ("A2ATask", ["a", "a", "task"]),
    ],
)
def test_a_name_is_read_as_its_words(name: str, words: list[str]):
    """Snake case, camel case and abbreviations."""
    assert generator.words(name) == words
