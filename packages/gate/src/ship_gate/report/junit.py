"""JUnit XML: each module a suite of its tests and of what the gate found, as build servers read it."""

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as Xml

from ship_gate.batch import BatchResult, JudgedModule

BEGINS = '<?xml version="1.0" encoding="utf-8"?>\n<testsuites '
"""How every report begins."""

_PLAIN = {0x9, 0xA, 0xD}


def junit_report(modules: Sequence[JudgedModule]) -> str:
    """The report of all modules."""
    return junit_text([junit_suite(module.name, list(_cases(module)), module.seconds) for module in modules])


def junit_text(suites: Sequence[Xml.Element]) -> str:
    """The file that holds some suites."""
    whole = Xml.Element("testsuites", {"name": "shipgate", **_totals(suites)})
    whole.extend(suites)
    Xml.indent(whole)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{Xml.tostring(whole, encoding="unicode")}\n'


def _totals(suites: Sequence[Xml.Element]) -> dict[str, str]:
    counts = {key: sum(int(one.get(key, "0")) for one in suites) for key in ("tests", "failures", "skipped")}
    seconds = sum(float(one.get("time", "0")) for one in suites)
    return {**{key: str(count) for key, count in counts.items()}, "time": f"{seconds:.3f}"}


def junit_suite(name: str, cases: Sequence[Xml.Element], seconds: float) -> Xml.Element:
    """A suite of cases."""
    failed = sum(case.find("failure") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    suite = Xml.Element(
        "testsuite",
        name=xml_text(name),
        tests=str(len(cases)),
        failures=str(failed),
        errors="0",
        skipped=str(skipped),
        time=f"{seconds:.3f}",
    )
    suite.extend(cases)
    return suite


def _cases(module: JudgedModule) -> Iterator[Xml.Element]:
    owner = xml_text(module.name)
    if module.judged is None:
        said = "it passed before and has not changed" if module.result is BatchResult.UNCHANGED else ""
        case = Xml.Element("testcase", classname=owner, name="gate", time="0")
        if said:
            Xml.SubElement(case, "skipped", message=said)
        else:
            Xml.SubElement(case, "failure", message="it was not judged: the time was over")
        yield case
        return
    verdict = module.judged.verdict
    for test in verdict.tests if verdict else ():
        case = Xml.Element(
            "testcase", classname=owner, name=xml_text(test.name), time=f"{test.duration_ms / 1000:.3f}"
        )
        if test.result == "FAIL":
            Xml.SubElement(case, "failure", message="the test failed").text = xml_text(test.message)
        yield case
    for finding in module.findings:
        where = f" at {finding.where}" if finding.where else ""
        case = Xml.Element("testcase", classname=owner, name=xml_text(f"{finding.code}{where}"), time="0")
        Xml.SubElement(case, "failure", message=finding.code).text = xml_text(finding.message)
        yield case
    if not module.findings:
        yield Xml.Element("testcase", classname=owner, name="gate", time=f"{module.seconds:.3f}")


def xml_text(text: str) -> str:
    """A text without what XML cannot hold."""
    return "".join(one for one in text if _is_xml(ord(one)))


def _is_xml(code: int) -> bool:
    return code in _PLAIN or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
