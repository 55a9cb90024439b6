"""The server says what Python says, and every error is a problem that names itself."""

import json
import re
from typing import Any

import pytest
from httpx import AsyncClient, Response

from phraseloom.explanation import explain
from phraseloom.extractor import Extractor
from phraseloom.options import Options
from phraseloom.server.metrics import HEADERS
from phraseloom.server.settings import Limits
from tests.server.serving import BROKEN, TEXT, ask, make_app, talk

TITLE = "Dynamic graphs"


def as_json(phrases: Any) -> Any:
    """What Python found, as JSON would carry it."""
    return [
        json.loads(json.dumps({name: getattr(phrase, name) for name in phrase.__slots__}))
        for phrase in phrases
    ]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"top": 7.0},
    {"style": "b"},
    {"top": 2, "title": TITLE},
    {"candidates": ["neural networks", "keyphrases"]},
    {"top": 8, "seeds": ["phrase"]},
    {"top": 8, "diversity": 1},
    {"top": 8, "exclude": ["graph", "Networks"]},
    {"top": 8, "min_words": 2, "max_words": 2},
    {"top": 8, "min_score": 0.01},
]


def test_every_option_is_tried() -> None:
    assert {name for options in OPTIONS for name in options} - {"title"} == set(
        Options.model_fields
    )


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options) or "none")
def test_the_server_finds_what_python_finds(extractor: Extractor, options: dict[str, Any]) -> None:
    response = ask(make_app(extractor), "POST", "/v1/extract", json={"text": TEXT, **options})

    in_python = {**options, "top": options.get("top") and int(options["top"])}
    assert response.json() == {"keyphrases": as_json(extractor.extract(TEXT, **in_python))}


@pytest.mark.parametrize("name", ["lambda1", "lambda2", "mode"])
def test_settings_of_the_search_are_no_options(extractor: Extractor, name: str) -> None:
    response = ask(make_app(extractor), "POST", "/v1/extract", json={"text": TEXT, name: 0.5})

    assert_problem(response, 422, f"#/{name}")


def test_a_trace_is_the_explanation(extractor: Extractor) -> None:
    body = {"text": TEXT, "title": TITLE, "top": 3, "diversity": 0.5, "trace": True}
    response = ask(make_app(extractor), "POST", "/v1/extract", json=body)

    expected = explain(extractor, TEXT, title=TITLE, top=3, diversity=0.5)
    assert response.json() == json.loads(json.dumps(expected.as_json()))


def test_several_documents_come_back_in_order(extractor: Extractor) -> None:
    texts = [TEXT, "", "Sparse matrices are fast."]
    body = {"documents": [{"text": text} for text in texts], "top": 4}
    response = ask(make_app(extractor), "POST", "/v1/extract/batch", json=body)

    expected = [
        {"keyphrases": as_json(phrases), "problem": None}
        for phrases in extractor.extract_many(texts, top=4)
    ]
    assert response.json() == {"results": expected}


def test_a_failing_document_leaves_the_others_their_phrases(extractor: Extractor) -> None:
    body = {"documents": [{"text": TEXT}, {"text": BROKEN}]}
    response = ask(make_app(extractor), "POST", "/v1/extract/batch", json=body)

    good, bad = response.json()["results"]
    assert good["keyphrases"]
    assert good["problem"] is None
    assert bad["keyphrases"] == []
    assert bad["problem"]["status"] == 500


LIMITS = Limits(characters=200, documents=4, phrases=5, work=200_000, body_bytes=3000)
MANY_FIELDS = {f"field{i}": 1 for i in range(33)}


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({}, 422, "#/text"),
        ([], 422, "#"),
        ({"text": TEXT, "top": 0}, 422, "#/top"),
        ({"text": TEXT, "top": True}, 422, "#/top"),
        ({"text": TEXT, "top": 1.5}, 422, "#/top"),
        ({"text": TEXT, "diversity": 1.5}, 422, "#/diversity"),
        ({"text": TEXT, "diversity": float("inf")}, 422, "#/diversity"),
        ({"text": TEXT, "seeds": "graph"}, 422, "#/seeds"),
        ({"text": TEXT, "min_words": 3, "max_words": 2}, 422, "at least min_words, 3, not 2"),
        ({"text": TEXT, "tops": 1}, 422, "#/tops"),
        ({"text": TEXT, "trace": "yes"}, 422, "#/trace"),
        ({"text": TEXT, "a/b": 1}, 422, "#/a~1b"),
        ({"text": TEXT, "\ud800": 1}, 422, "unicode"),
        ({"text": TEXT, "seeds": ["\ud800"], "style": "\ud800"}, 422, "unknown style"),
        ({"text": TEXT, **MANY_FIELDS}, 422, "more than 32 fields"),
        ({"text": BROKEN}, 500, "could not be searched"),
        ({"text": BROKEN, "trace": True}, 500, "could not be searched"),
        ({"text": "a" * 201}, 413, "200 characters"),
        ({"text": "a", "title": "b" * 200}, 413, "200 characters"),
        ({"text": "a" * 3000}, 413, "3000 bytes"),
        ({"text": TEXT, "top": 101}, 413, "202000 characters times phrases, of 200000"),
        ({"text": TEXT, "exclude": [""] * 6}, 413, "exclude may have 5 phrases"),
    ],
)
def test_a_bad_document_is_a_problem_that_says_what_is_wrong(
    extractor: Extractor, body: Any, status: int, says: str
) -> None:
    response = send(extractor, "/v1/extract", json.dumps(body).encode())

    assert_problem(response, status, says)


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b'{"documents": [{}]}', 422, "#/documents/0/text"),
        (b'{"documents": [%s]}' % b",".join([b"{}"] * 5), 413, "4 documents"),
        (b'{"documents": [{"text": "", "title": 1}]}', 422, "#/documents/0/title"),
        (b'{"documents": {}}', 422, "#/documents"),
        (b'{"documents": [%s]}' % json.dumps(MANY_FIELDS).encode(), 422, "more than 32 fields"),
        (b'{"documents": [], "trace": true}', 422, "#/trace"),
        (b'{"documents": [], "style": "c"}', 422, "this model knows: a, b"),
        (b"{", 400, "not JSON"),
        (b'{"documents": "' + b'\\"' * 1400, 400, "not JSON"),
        (b'{"documents": [' + b"[]," * 900, 413, "far more values"),
        (b"\xff", 400, "not JSON"),
        (b"[" * 200, 400, "not JSON"),
        (b'{"documents": [], "top": %s}' % (b"9" * 2900), 422, "#/top"),
        (b'{"documents": [], "top": %s}' % (b"9" * 5000), 413, "3000 bytes"),
        (b"", 400, "not JSON"),
    ],
)
def test_a_bad_list_is_a_problem_that_says_what_is_wrong(
    extractor: Extractor, body: bytes, status: int, says: str
) -> None:
    assert_problem(send(extractor, "/v1/extract/batch", body), status, says)


def test_a_deep_body_is_no_json(extractor: Extractor) -> None:
    json_type = {"Content-Type": "application/json"}
    response = ask(
        make_app(extractor), "POST", "/v1/extract", content=b"[" * 20_000, headers=json_type
    )

    assert_problem(response, 400, "not JSON")


def test_only_some_of_what_is_wrong_is_listed(extractor: Extractor) -> None:
    body: dict[str, list[dict[str, str]]] = {"documents": [{} for _ in range(64)]}
    response = ask(make_app(extractor), "POST", "/v1/extract/batch", json=body)

    assert_problem(response, 422, "#/documents/19/text")
    assert len(response.json()["errors"]) == 20


def test_the_name_of_a_field_is_not_told_in_full(extractor: Extractor) -> None:
    body = {"text": TEXT, "x" * 1_000_000: 1}
    response = ask(make_app(extractor), "POST", "/v1/extract", json=body)

    assert_problem(response, 422, "#/xxx")
    assert len(response.content) < 1000


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_form_of_another_page_is_not_read(extractor: Extractor, kind: str) -> None:
    body = json.dumps({"text": TEXT}).encode()
    response = ask(
        make_app(extractor), "POST", "/v1/extract", content=body, headers={"Content-Type": kind}
    )

    assert_problem(response, 415, "application/json")


@pytest.mark.parametrize("path", ["/nothing/here", "/../pyproject.toml", "/v1/extract/"])
def test_an_unknown_path_is_a_problem(extractor: Extractor, path: str) -> None:
    assert_problem(ask(make_app(extractor), "GET", path), 404, "Not Found")


def test_a_wrong_method_is_a_problem_that_names_the_right_one(extractor: Extractor) -> None:
    response = ask(make_app(extractor), "GET", "/v1/extract")

    assert_problem(response, 405, "Not Allowed")
    assert response.headers["Allow"] == "POST"


def test_half_a_character_does_no_harm(extractor: Extractor) -> None:
    text = "\ud83d " + TEXT
    response = send(extractor, "/v1/extract", json.dumps({"text": text}).encode())

    assert response.json() == {"keyphrases": as_json(extractor.extract("\ufffd " + TEXT))}


def test_nothing_on_a_page_comes_from_elsewhere(extractor: Extractor) -> None:
    app = make_app(extractor)

    async def look(client: AsyncClient) -> None:
        for path in ["/", "/docs"]:
            page = await client.get(path)
            assert page.status_code == 200
            assert page.headers["Content-Type"] == "text/html; charset=utf-8"
            assert not re.search(r"""(src|href)=["']?(https?:)?//""", page.text)
            assert "<style" not in page.text  # the policy would not let it work
            for name in re.findall(r"""(?:src|href)=["']?([\w./-]+)""", page.text):
                linked = await client.get(name if name.startswith("/") else f"/{name}")
                assert linked.status_code == 200, name

    talk(app, look)


def test_the_documentation_has_every_operation_and_option(extractor: Extractor) -> None:
    app = make_app(extractor)

    async def look(client: AsyncClient) -> tuple[Any, str]:
        document = (await client.get("/openapi.json")).json()
        return document, (await client.get("/docs")).text

    document, page = talk(app, look)
    assert set(document["paths"]) == {
        *("/v1/extract", "/v1/extract/batch", "/v1/models"),
        *("/healthz", "/readyz", "/metrics"),
    }
    for path in document["paths"]:
        assert f" {path}</h2>" in page
    for name, field in Options.model_fields.items():
        assert f"<td>{name}</td>" in page
        assert document["components"]["schemas"]["BatchRequest"]["properties"][name]
        assert field.description is not None
        assert field.description in page.replace("&#x27;", "'")
    problems = document["paths"]["/v1/extract"]["post"]["responses"]
    assert set(problems) == {"200", "400", "413", "415", "422", "429", "500", "503"}
    assert set(problems["429"]["content"]) == {"application/problem+json"}


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_who_asks_after_its_health_needs_no_body(extractor: Extractor, path: str) -> None:
    assert ask(make_app(extractor), "HEAD", path).status_code == 200


def test_metrics_count_requests_and_batches(extractor: Extractor) -> None:
    async def look(client: AsyncClient) -> str:
        await client.post("/v1/extract", json={"text": TEXT})
        await client.get("/what/a/secret")
        return (await client.get("/metrics")).text

    lines = talk(make_app(extractor), look).splitlines()
    assert 'phraseloom_requests_total{path="/v1/extract",status="200"} 1.0' in lines
    assert 'phraseloom_requests_total{path="other",status="404"} 1.0' in lines
    assert "phraseloom_batch_documents_sum 1.0" in lines
    assert "phraseloom_queue_documents 0.0" in lines


@pytest.mark.parametrize("path", ["/", "/docs", "/nothing", "/v1/extract", "/readyz"])
def test_every_response_is_guarded(extractor: Extractor, path: str) -> None:
    headers = ask(make_app(extractor), "GET", path).headers

    assert HEADERS.items() <= {name: headers.get(name) for name in HEADERS}.items()
    policy = headers["Content-Security-Policy"].split("; ")
    assert "default-src 'none'" in policy
    assert "unsafe" not in headers["Content-Security-Policy"]


def send(extractor: Extractor, path: str, body: bytes) -> Response:
    json_type = {"Content-Type": "application/json"}
    return ask(make_app(extractor, LIMITS), "POST", path, content=body, headers=json_type)


def assert_problem(response: Response, status: int, says: str) -> None:
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert (problem["status"], problem["type"]) == (status, "about:blank")
    assert says in response.text
