"""Requests and responses, shared with the OpenAPI document."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from phraseloom.extractor import Keyphrase
from phraseloom.server.jobs import Job, Mode, Options
from phraseloom.server.problems import Problem
from phraseloom.server.surrogates import replace_surrogates
from phraseloom.text.document import Source


def _whole(value: object) -> object:
    """In JSON 8.0 is as good an integer as 8."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Text = Annotated[str, AfterValidator(replace_surrogates)]
Top = Annotated[int, Field(ge=1, le=100), BeforeValidator(_whole)]
Lambda = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Settings(Strict):
    """How to search; what is left out is as the model was saved."""

    top: Top | None = Field(
        None, description="exactly so many phrases; without it the model decides"
    )
    style: Text | None = Field(None, max_length=100, description="kind of annotator to imitate")
    lambda1: Lambda | None = Field(
        None, description="λ1: how much a phrase must differ from those said"
    )
    lambda2: Lambda | None = Field(None, description="λ2: against the less likely siblings")
    mode: Mode | None = Field(
        None, description="extractive: only what stands in the text; free: any words of it"
    )


class DocumentIn(Strict):
    """A text, and its title if that is known apart."""

    text: Text
    title: Text = ""


class ExtractRequest(Settings, DocumentIn):
    """One document."""

    trace: bool = Field(False, description="tell how the phrases were found, as a page draws it")

    def jobs(self) -> list[Job]:
        """What is to be searched."""
        return [Job(Source(self.text, self.title), _options(self, trace=self.trace))]


class BatchRequest(Settings):
    """Several documents that are searched alike."""

    documents: list[DocumentIn]

    def jobs(self) -> list[Job]:
        """What is to be searched."""
        options = _options(self)
        return [Job(Source(each.text, each.title), options) for each in self.documents]


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


def _options(settings: Settings, *, trace: bool = False) -> Options:
    return Options(**settings.model_dump(include=set(Settings.model_fields)), trace=trace)
