"""A spaCy component: ``nlp.add_pipe("phraseloom")``.

spaCy imports this module whenever it makes a pipeline, ours or not: it must stay light.
"""

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, SpanGroup

from phraseloom.errors import ConfigError, OptionsError
from phraseloom.integrations import shared_extractor
from phraseloom.keyphrase import Keyphrase
from phraseloom.options import Options, as_count
from phraseloom.text.parsers.spacy import is_parsed, read_doc

SPANS = "keyphrases"
"""Key of the places in ``doc.spans`` and name of the phrases in ``doc._``."""
LABEL = "KEYPHRASE"

_DATA = "phraseloom"  # key in doc.user_data: plain values, which spaCy can write to a file
_SETTINGS = "settings.json"


@Language.factory(
    "phraseloom",
    default_config={"model": None, "reuse_parse": True, **Options().model_dump(mode="json")},
    assigns=["doc._.keyphrases", "doc.spans"],
)
def make_component(
    nlp: Language,
    name: str,
    model: str | None,
    reuse_parse: bool,
    top: int | None,
    style: str | None,
    candidates: list[str] | None,
    seeds: list[str],
    diversity: float | None,
    exclude: list[str],
    min_words: int,
    max_words: int | None,
    min_score: float | None,
) -> "KeyphraseComponent":
    """What spaCy calls to make the component; it wants every setting as an argument by name.

    ``model`` is the name of an installed model, a model directory, or none for the default;
    ``reuse_parse`` takes the pipeline's own parse where it is complete, else our parser's always.
    All others are those of `Options`.
    """
    if nlp.lang != "en":
        warnings.warn(
            f"phraseloom reads English, and this pipeline is for language {nlp.lang!r}:"
            " its keyphrases will be poor",
            stacklevel=2,
        )
    options = Options(
        top=top,
        style=style,
        candidates=candidates,
        seeds=seeds,
        diversity=diversity,
        exclude=exclude,
        min_words=min_words,
        max_words=max_words,
        min_score=min_score,
    )
    define_extension()
    return KeyphraseComponent(model, options, reuse_parse=reuse_parse)


class KeyphraseComponent:
    """Puts keyphrases into ``doc._.keyphrases`` and their places into ``doc.spans``."""

    def __init__(self, model: str | None, options: Options, *, reuse_parse: bool) -> None:
        self.model = model
        self.options = options
        self.reuse_parse = reuse_parse

    def __call__(self, doc: Doc) -> Doc:
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 32) -> Iterator[Doc]:
        """Annotate a stream of texts, in order, so many at a time."""
        batch_size = as_count(batch_size, "batch_size")
        docs_to_come = iter(stream)
        while docs := list(islice(docs_to_come, batch_size)):
            self._annotate(docs)
            yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        for doc in docs:
            if not isinstance(doc, Doc):
                kind = type(doc).__name__
                raise OptionsError(f"the component takes Docs, such as nlp(text), not {kind}")
        parsed = [doc for doc in docs if self._reuses(doc)]
        bare = [doc for doc in docs if not self._reuses(doc)]
        extractor = shared_extractor(self.model)
        documents = [read_doc(doc) for doc in parsed]
        lists = extractor.extract_parsed(documents, self.options)
        texts = [doc.text for doc in bare]
        lists += extractor.extract_many(texts, self.options, batch_size=len(docs), progress=False)
        for doc, phrases in zip([*parsed, *bare], lists, strict=True):
            doc.user_data[_DATA] = [astuple(phrase) for phrase in phrases]
            doc.spans[SPANS] = _span_group(doc, phrases)

    def _reuses(self, doc: Doc) -> bool:
        return self.reuse_parse and doc.lang_ == "en" and is_parsed(doc)

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        """The settings; weights stay where they are installed."""
        settings = {"model": self.model, "reuse_parse": self.reuse_parse}
        return json.dumps(settings | {"options": self.options.model_dump()}).encode()

    def from_bytes(self, data: bytes, *, exclude: Sequence[str] = ()) -> "KeyphraseComponent":
        """Take over the settings of another component."""
        try:
            settings = json.loads(data)
            model, reuse_parse = settings["model"], settings["reuse_parse"]
            options = dict(settings["options"])
        except (ValueError, TypeError, KeyError):
            raise ConfigError(
                "these are no settings of a phraseloom component; make it anew with add_pipe"
            ) from None
        self.model, self.reuse_parse, self.options = model, reuse_parse, Options(**options)
        return self

    def to_disk(self, path: Path | str, *, exclude: Sequence[str] = ()) -> None:
        """Write the settings into a directory."""
        Path(path).mkdir(parents=True, exist_ok=True)
        (Path(path) / _SETTINGS).write_bytes(self.to_bytes())

    def from_disk(self, path: Path | str, *, exclude: Sequence[str] = ()) -> "KeyphraseComponent":
        """Read the settings from a directory."""
        return self.from_bytes((Path(path) / _SETTINGS).read_bytes())


def define_extension() -> None:
    """Define ``doc._.keyphrases``; also for reading stored Docs without a pipeline."""
    if Doc.has_extension(SPANS):
        if Doc.get_extension(SPANS)[2] is not read_keyphrases:
            raise ConfigError(
                f"another component defines doc._.{SPANS};"
                f' remove it first: Doc.remove_extension("{SPANS}")'
            )
        return
    Doc.set_extension(SPANS, getter=read_keyphrases)


def read_keyphrases(doc: Doc) -> list[Keyphrase]:
    """Phrases of a Doc, best first; none if no phraseloom component has seen it."""
    return [_from_plain(values) for values in doc.user_data.get(_DATA, ())]


def _from_plain(values: Sequence[Any]) -> Keyphrase:
    phrase = Keyphrase(*values)  # but lists are what spaCy reads from a file
    spans, title_spans = (
        tuple((start, end) for start, end in places)
        for places in (phrase.spans, phrase.title_spans)
    )
    return replace(phrase, stems=tuple(phrase.stems), spans=spans, title_spans=title_spans)


def _span_group(doc: Doc, phrases: Sequence[Keyphrase]) -> SpanGroup:
    """Every place of every phrase, widened to whole tokens; the best phrase's places first."""
    group = SpanGroup(doc, name=SPANS)
    scores = []
    for phrase in phrases:
        rank = str(phrase.rank)
        for start, end in phrase.spans:
            span = doc.char_span(start, end, label=LABEL, span_id=rank, alignment_mode="expand")
            assert span is not None, "a place of a phrase is inside the text"
            group.append(span)
            scores.append(phrase.score)
    group.attrs["scores"] = scores
    return group
