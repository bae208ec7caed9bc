"""A golden run as JUnit XML, which build servers show. Pure.

The gate is what fails a build: the test `floor`, and each `must_pass` case. Another case that does not pass is
reported as skipped, with what removed its file, since the floor allows it.
"""

import re
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

from rag_core.golden.verdicts import CaseVerdict, GoldenOutcome

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(outcome: GoldenOutcome, *, suite: str, floor_fall: str | None = None) -> str:
    """One test suite with a test a case, and one for the floor.

    Args:
        outcome: How the cases came out.
        suite: The suite's name, for example the project's.
        floor_fall: One sentence where the floor was lowered, which fails the test of the floor.
    """
    tests = [_case(verdict, suite) for verdict in outcome.verdicts]
    told = f"{outcome.passed} of {outcome.total} pass, and the floor is {outcome.floor}"
    met = outcome.passed >= outcome.floor and floor_fall is None
    tests.append(_test("floor", suite, "" if met else _tag("failure", {"message": floor_fall or told})))
    failures = len(outcome.lost_must_pass) + (not met)
    skipped = outcome.total - outcome.passed - len(outcome.lost_must_pass)
    head = _attributes({"name": suite, "tests": len(tests), "failures": failures, "skipped": skipped})
    body = "".join(tests)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites>\n<testsuite{head}>\n{body}</testsuite>\n</testsuites>\n"
    )


def _case(verdict: CaseVerdict, suite: str) -> str:
    if verdict.passed:
        return _test(verdict.case.id, suite, "")
    if verdict.case.no_answer:
        reason = "There should be no hit."
    else:
        reason = (
            f"Removed by {verdict.removed_by}; position in the whole set: {verdict.whole_rank or 'none'}."
        )
    kind = "failure" if verdict.case.must_pass else "skipped"
    return _test(verdict.case.id, suite, _tag(kind, {"message": f"{verdict.case.question} {reason}"}))


def _test(name: str, suite: str, inside: str) -> str:
    head = _attributes({"name": name, "classname": suite})
    return f"<testcase{head}>{inside}</testcase>\n" if inside else f"<testcase{head}/>\n"


def _tag(name: str, attributes: Mapping[str, object]) -> str:
    return f"<{name}{_attributes(attributes)}/>"


def _attributes(attributes: Mapping[str, object]) -> str:
    return "".join(
        f" {name}={quoteattr(_NOT_IN_XML.sub('', str(value)))}" for name, value in attributes.items()
    )
