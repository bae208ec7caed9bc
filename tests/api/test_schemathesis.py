"""Schemathesis over the served OpenAPI document, with a token of each role: it finds nothing."""

from collections.abc import Iterator

import pytest
import schemathesis
from api_material import ApiInstallation, mounted, served
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema

from medir.http_api.app import make_api

EXAMPLES = 6
# a vote on a search that is not there is 400 by contract, and so are two windows in one request: no schema says so
REFUSED_BY_MEANING = ("/projects/{projectId}/rag/feedback", "/projects/{projectId}/rag/report")

# the systematic walk over every bound is done once for each route, as a role that it lets through
NOT_WALKED = {"viewer": ".", "maintainer": "^/internal/", "engine": "^(?!/internal/)"}


def configuration_of(installation: ApiInstallation, role: str) -> SchemathesisConfig:
    accepted = ["2xx", "401", "403", "404", "409"]
    return SchemathesisConfig.from_dict(
        {
            "seed": 20260102,
            "headers": installation.bearer(role),
            "generation": {"max-examples": EXAMPLES, "deterministic": True, "database": "none"},
            "parameters": {"path.projectId": "entrega"},
            "checks": {"positive_data_acceptance": {"expected-statuses": accepted}},
            "operations": [
                {
                    "include-path": path,
                    "checks": {"positive_data_acceptance": {"expected-statuses": [*accepted, "400"]}},
                }
                for path in REFUSED_BY_MEANING
            ]
            + [{"include-path-regex": NOT_WALKED[role], "phases": {"coverage": {"enabled": False}}}],
            "warnings": False,
        }
    )


@pytest.fixture(scope="module")
def address(installation: ApiInstallation) -> Iterator[str]:
    with served(mounted(make_api(installation.configuration))) as found:
        yield found


def findings(address: str, installation: ApiInstallation, role: str) -> Iterator[tuple[int, list[str]]]:
    schema = schemathesis.openapi.from_url(
        f"{address}/api/openapi.json", config=configuration_of(installation, role)
    )
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            told = [
                f"{event.label}: {node.name}: {node.failure_info.failure if node.failure_info else ''}"
                for nodes in event.recorder.checks.values()
                for node in nodes
                if node.status is not Status.SUCCESS
            ]
            yield len(event.recorder.interactions), told
        elif isinstance(event, events.NonFatalError | events.FatalError):
            yield 0, [repr(event)]


@pytest.mark.parametrize("role", ["viewer", "maintainer", "engine"])
def test_whatever_the_document_allows_is_answered_as_it_says(
    address: str, installation: ApiInstallation, role: str
) -> None:
    found = list(findings(address, installation, role))
    assert [line for _, lines in found for line in lines] == []
    assert sum(calls for calls, _ in found) > 100
