"""Requests and responses, shared with the OpenAPI document."""

import json
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool
from starlette.exceptions import HTTPException

from phraseloom.keyphrase import Keyphrase
from phraseloom.options import Options, OptionsModel
from phraseloom.server.jobs import Job
from phraseloom.server.problems import Problem
from phraseloom.server.settings import Limits
from phraseloom.text.document import Source
from phraseloom.text.words import replace_surrogates

Text = Annotated[str, AfterValidator(replace_surrogates)]

_MAX_FIELDS = 32  # of an object; no request has so many
_VALUES = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[,\[{]', re.DOTALL)
"""A string, or what stands before any other value. A string that does not end is one too: if the
search could fail at a quotation mark, it would look through all of the rest again at the next."""


class DocumentIn(BaseModel):
    """A text, and its title if that is known apart."""

    model_config = ConfigDict(extra="forbid")

    text: Text
    title: Text = ""


class ExtractRequest(OptionsModel):
    """One document, and what is wanted of it."""

    text: Text
    title: Text = ""
    trace: StrictBool = Field(
        False, description="also give the graph and how each phrase was chosen, for a page to draw"
    )

    def jobs(self) -> list[Job]:
        """What is to be searched."""
        return [Job(Source(self.text, self.title), _options(self), is_traced=self.trace)]


class BatchRequest(OptionsModel):
    """Several documents, and what is wanted of each."""

    documents: list[DocumentIn]

    def jobs(self) -> list[Job]:
        """What is to be searched."""
        options = _options(self)
        return [Job(Source(document.text, document.title), options) for document in self.documents]


class Extracted(BaseModel):
    """Keyphrases of a document, best first; spans count Unicode code points."""

    keyphrases: list[Keyphrase]


class BatchItem(BaseModel):
    """Keyphrases of a document, or why there are none."""

    keyphrases: list[Keyphrase] = []
    problem: Problem | None = None


class BatchExtracted(BaseModel):
    """Results in the order of the documents."""

    results: list[BatchItem]


class ModelInfo(BaseModel):
    """An installed model."""

    name: str
    size_bytes: int
    is_served: bool
    notes: dict[str, Any] = Field(description="scores, training data and its licence")


class Models(BaseModel):
    """The model behind this server, and others that are installed."""

    models: list[ModelInfo]
    styles: list[str] = Field(description="kinds of annotators that the served one can imitate")


class Status(BaseModel):
    """How the server does."""

    status: str


Request = ExtractRequest | BatchRequest


def parse_request(kind: type[Request], body: bytes, limits: Limits) -> Request:
    """A request from its body; what is counted is counted before anything is validated.

    Raises:
        HTTPException: it is no JSON, or there is too much of something.
        ValidationError: it does not fit the schema.
    """
    _count_values(body, 8 * (limits.documents + 3 * limits.phrases) + 100)
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None
    if isinstance(content, dict):
        _count(content, limits)
        content = {name: _as_integer(value) for name, value in content.items()}
    return kind.model_validate(content)


def _count_values(body: bytes, most: int) -> None:
    """Refuse a body of a million empty values before any of them is made."""
    for number, _ in enumerate(_VALUES.finditer(body)):
        if number == most:
            raise HTTPException(413, "there are far more values than a request may have")


def _count(content: dict[str, Any], limits: Limits) -> None:
    """Refuse what would take long to validate, or to tell what is wrong with it."""
    documents = content.get("documents")
    if isinstance(documents, list) and len(documents) > limits.documents:
        raise HTTPException(413, f"a request may have {limits.documents} documents")
    for name in ("candidates", "seeds", "exclude"):
        phrases = content.get(name)
        if isinstance(phrases, list) and len(phrases) > limits.phrases:
            raise HTTPException(413, f"{name} may have {limits.phrases} phrases")
    for fields in (content, *(documents if isinstance(documents, list) else ())):
        if isinstance(fields, dict) and len(fields) > _MAX_FIELDS:
            raise HTTPException(422, f"there are more than {_MAX_FIELDS} fields; see /docs")


def _as_integer(value: Any) -> Any:
    """In JSON 8.0 is as good an integer as 8."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _options(request: OptionsModel) -> Options:
    return Options(**{name: getattr(request, name) for name in Options.model_fields})
