"""A golden run as JUnit XML, which build servers show. Pure.

The gate is what fails a build: the test `floor`, each `must_pass` case, and where more is asked for, each case that
was lost since a baseline and a test a further gate. Another case that does not pass is reported as skipped, with what
removed its file, since the floor allows it.
"""

import re
from collections.abc import Collection, Mapping
from xml.sax.saxutils import escape, quoteattr

from rag_core.golden.verdicts import CaseVerdict, GoldenOutcome

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(
    outcome: GoldenOutcome,
    *,
    suite: str,
    floor_fall: str | None = None,
    lost: Collection[str] = (),
    causes: Mapping[str, str] | None = None,
    gates: Mapping[str, str | None] | None = None,
) -> str:
    """One test suite with a test a case, one for the floor, and one for each further gate.

    `floor_fall` is one sentence where the floor was lowered, which fails the test of the floor. The loss of the
    cases `lost` fails the build, and `causes` has of them, by id, one sentence that says what happened. `gates`
    are further ones by name, with the sentence of one that was not met, None for one that was.
    """
    failing = {*outcome.lost_must_pass, *lost}
    told_causes = causes or {}
    tests = [
        _case(verdict, suite, fails=verdict.case.id in failing, cause=told_causes.get(verdict.case.id))
        for verdict in outcome.verdicts
    ]
    told = f"{outcome.passed} of {outcome.total} pass, and the floor is {outcome.floor}"
    met = outcome.passed >= outcome.floor and floor_fall is None
    judged = {"floor": None if met else floor_fall or told, **(gates or {})}
    tests += [
        _test(name, suite, "" if sentence is None else _tag("failure", {"message": sentence}))
        for name, sentence in judged.items()
    ]
    failures = len(failing) + sum(sentence is not None for sentence in judged.values())
    skipped = outcome.total - outcome.passed - len(failing)
    counts = {"tests": len(tests), "failures": failures, "skipped": skipped}
    return _document({"name": suite, **counts}, "".join(tests))


def junit_error_xml(sentence: str, *, suite: str, details: str = "") -> str:
    """A run that judged nothing: one test, in error."""
    told = escape(_NOT_IN_XML.sub("", details))
    error = f"<error{_attributes({'message': sentence})}>{told}</error>"
    counts = {"tests": 1, "failures": 0, "errors": 1, "skipped": 0}
    return _document({"name": suite, **counts}, _test("run", suite, error))


def _document(suite: Mapping[str, object], body: str) -> str:
    head = _attributes(suite)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites>\n<testsuite{head}>\n{body}</testsuite>\n</testsuites>\n"
    )


def _case(verdict: CaseVerdict, suite: str, *, fails: bool, cause: str | None) -> str:
    if verdict.passed:
        return _test(verdict.case.id, suite, "")
    if cause is not None:
        reason = cause
    elif verdict.case.no_answer:
        reason = "There should be no hit."
    else:
        reason = (
            f"Removed by {verdict.removed_by}; position in the whole set: {verdict.whole_rank or 'none'}."
        )
    kind = "failure" if fails else "skipped"
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
