"""Whatever the OpenAPI document allows or forbids, the server answers as the document says.

A few examples of each operation over real HTTP; docs/howto/server.md has the command for many.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from phraseloom.server.settings import Limits
from phraseloom.text.parsers import Parser
from tests.server.serving import LiveServer, make_app, make_extractor


@pytest.fixture(scope="module")
def contract(spacy_parser: Parser) -> Iterator[schemathesis.BaseSchema]:
    app = make_app(make_extractor(spacy_parser))
    server = LiveServer(app)
    yield schemathesis.openapi.from_url(f"{server.address}openapi.json", wait_for_schema=60)
    server.stop()


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
@pytest.mark.parametrize("path", ["/v1/extract", "/v1/extract/batch"])
def test_what_fits_the_document_is_answered_and_what_does_not_is_refused(
    contract: schemathesis.BaseSchema, path: str, mode: schemathesis.GenerationMode
) -> None:
    @settings(max_examples=15, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(case=contract[path]["POST"].as_strategy(generation_mode=mode))
    def keeps_its_contract(case: schemathesis.Case[Any]) -> None:
        response = case.call()
        case.validate_response(response, excluded_checks=[positive_data_acceptance])
        if mode is schemathesis.GenerationMode.POSITIVE:
            assert response.status_code in {200, _expected_refusal(case.body)}, response.text

    keeps_its_contract()


def _expected_refusal(body: Any) -> int | None:
    """What JSON schemas cannot say: how two fields go together."""
    longest = body.get("max_words")
    if longest is not None and longest < body.get("min_words", 1):
        return 422
    phrases = body.get("top") or len(body.get("candidates") or ())
    texts = body.get("documents", [body])
    return 413 if phrases * 2_000 * len(texts) > Limits().work else None


@pytest.mark.parametrize("path", ["/v1/models", "/healthz", "/readyz", "/metrics"])
def test_what_needs_no_input_is_as_the_document_says(
    contract: schemathesis.BaseSchema, path: str
) -> None:
    contract[path]["GET"].Case().call_and_validate()
