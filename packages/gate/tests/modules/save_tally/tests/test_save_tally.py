"""What save_tally promises."""

import pytest
from modules.save_tally import EmptyTextError, save_tally


def test_the_counts_are_written_one_line_per_word(tmp_path):
    target = tmp_path / "tally.txt"
    saved = save_tally("to be or to", target)
    assert target.read_text(encoding="utf-8") == "to 2\nbe 1\nor 1\n"
    assert saved.target == target


def test_the_number_of_different_words_comes_back(tmp_path):
    assert save_tally("to be to", tmp_path / "tally.txt").words == 2


def test_a_text_without_a_word_writes_nothing(tmp_path):
    with pytest.raises(EmptyTextError):
        save_tally(" ", tmp_path / "tally.txt")
    assert not (tmp_path / "tally.txt").exists()


def test_a_folder_that_is_missing_is_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        save_tally("one", tmp_path / "nowhere" / "tally.txt")
