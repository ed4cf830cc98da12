"""What write_report promises: the file holds the report, or is as it was before."""

from pathlib import Path

import pytest
from modules.write_report import write_report

REPORT = "Café\n====\n\nAna pays Ben 3.00 €\n"


def test_the_file_reads_back_as_the_report(tmp_path):
    path = tmp_path / "tab.txt"
    write_report(REPORT, path)
    assert path.read_bytes() == REPORT.encode("utf-8")


def test_the_size_is_the_number_of_bytes_in_the_file(tmp_path):
    path = tmp_path / "tab.txt"
    assert write_report(REPORT, path) == len(REPORT) + 3
    assert path.stat().st_size == len(REPORT) + 3


def test_nothing_of_a_longer_report_remains(tmp_path):
    path = tmp_path / "tab.txt"
    write_report(REPORT * 10, path)
    write_report("even\n", path)
    assert path.read_bytes() == b"even\n"


def test_an_empty_report_makes_an_empty_file(tmp_path):
    path = tmp_path / "tab.txt"
    assert write_report("", path) == 0
    assert path.read_bytes() == b""


@pytest.mark.parametrize("report", ["\ud800", "Ana \udc80"])
def test_a_report_that_cannot_be_encoded_is_refused_and_the_old_one_stays(tmp_path, report):
    path = tmp_path / "tab.txt"
    write_report("old\n", path)
    with pytest.raises(ValueError, match="report has an unpaired surrogate"):
        write_report(report, path)
    assert path.read_bytes() == b"old\n"


@pytest.mark.parametrize(("name", "reason"), [("a\0b", "NUL"), ("\ud800", "surrogate"), ("\udc80", "surrogate")])
def test_a_path_that_names_no_file_is_refused(name, reason):
    with pytest.raises(ValueError, match=f"path has an? .*{reason}"):
        write_report(REPORT, Path(name))


def test_a_directory_that_does_not_exist_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        write_report(REPORT, tmp_path / "nowhere" / "tab.txt")


def test_a_directory_in_place_of_a_file_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="directory"):
        write_report(REPORT, tmp_path)
