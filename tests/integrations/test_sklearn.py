"""The vectorizer keeps scikit-learn's contract for transformers, and its numbers are phrases."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks as checks

from phraseloom.errors import PhraseloomError
from phraseloom.integrations import shared_extractor
from phraseloom.integrations.sklearn import KeyphraseVectorizer
from phraseloom.options import Options
from tests.integrations.samples import GRAPHS, LIGHT, SOIL, TEXTS

# scikit-learn's own checks that need no table of numbers. The others, which `check_estimator` too
# leaves out for estimators of text, fit on numbers. The tests below say the same of texts where it
# means something: fit returns self, parameters and attributes stay, order and subsets do not
# matter, pickles. Number of features, dtypes, sparse and infinite input mean nothing for texts.
APPLICABLE = [
    checks.check_do_not_raise_errors_in_init_or_set_params,
    checks.check_estimator_cloneable,
    checks.check_estimator_repr,
    checks.check_estimator_tags_renamed,
    checks.check_get_params_invariance,
    checks.check_mixin_order,
    checks.check_no_attributes_set_in_init,
    checks.check_parameters_default_constructible,
    checks.check_set_params,
    checks.check_transformers_unfitted,
    checks.check_valid_tag_types,
]


@pytest.fixture(scope="module")
def fitted() -> KeyphraseVectorizer:
    return KeyphraseVectorizer(top=4).fit(TEXTS)


def dense(matrix: Any) -> np.ndarray[Any, Any]:
    return np.asarray(matrix.todense())


@pytest.mark.parametrize("check", APPLICABLE, ids=lambda check: check.__name__)
def test_scikit_learn_s_own_checks_hold(check: Callable[[str, object], None]) -> None:
    check("KeyphraseVectorizer", KeyphraseVectorizer())


def test_scores_are_those_of_the_extractor(fitted: KeyphraseVectorizer) -> None:
    matrix = dense(fitted.transform(TEXTS))

    for row, text in zip(matrix, TEXTS, strict=True):
        phrases = shared_extractor(None).extract(text, top=4)
        by_name = dict(zip(fitted.get_feature_names_out(), row, strict=True))
        assert {name for name, weight in by_name.items() if weight} == {p.text for p in phrases}
        for phrase in phrases:
            assert by_name[phrase.text] == pytest.approx(phrase.score, rel=1e-4)


def test_fitting_and_transforming_at_once_gives_the_same(fitted: KeyphraseVectorizer) -> None:
    fresh = KeyphraseVectorizer(top=4)

    np.testing.assert_array_equal(dense(fresh.fit_transform(TEXTS)), dense(fitted.transform(TEXTS)))
    assert fresh.vocabulary_ == fitted.vocabulary_


def test_neither_order_nor_company_changes_a_row(fitted: KeyphraseVectorizer) -> None:
    together = dense(fitted.transform(TEXTS))

    np.testing.assert_allclose(dense(fitted.transform(TEXTS[::-1]))[::-1], together, rtol=1e-4)
    for row, text in zip(together, TEXTS, strict=True):
        np.testing.assert_allclose(dense(fitted.transform([text]))[0], row, rtol=1e-4)


def test_the_order_of_the_texts_does_not_change_the_columns(fitted: KeyphraseVectorizer) -> None:
    backwards = KeyphraseVectorizer(top=4).fit(TEXTS[::-1])

    assert backwards.vocabulary_ == fitted.vocabulary_
    assert list(backwards.phrases_) == list(fitted.phrases_)


def test_fitting_and_transforming_leave_the_settings_alone() -> None:
    vectorizer = KeyphraseVectorizer(top=3, weighting="binary", min_df=0.1)
    settings = vectorizer.get_params()

    assert vectorizer.fit(iter(TEXTS)) is vectorizer
    state = dict(vars(vectorizer))
    vectorizer.transform(np.array([GRAPHS]))

    assert vectorizer.get_params() == settings
    assert vars(vectorizer) == state


def test_a_pickle_is_small_and_gives_the_same(fitted: KeyphraseVectorizer) -> None:
    data = pickle.dumps(fitted)

    assert len(data) < 10_000, "the model is not in it"
    restored = pickle.loads(data)
    np.testing.assert_array_equal(dense(restored.transform(TEXTS)), dense(fitted.transform(TEXTS)))


def test_spellings_of_a_phrase_share_a_column_named_as_most_texts_write_it() -> None:
    texts = ["Photodiode.", "photodiodes", "photodiodes!", "unheard word"]
    vectorizer = KeyphraseVectorizer(top=1, weighting="binary")

    matrix = dense(vectorizer.fit_transform(texts))

    [column] = [i for i, name in enumerate(vectorizer.phrases_) if name == "photodiodes"]
    assert matrix[:, column].tolist() == [1, 1, 1, 0]


def test_a_phrase_of_too_few_texts_has_no_column() -> None:
    texts = ["Photodiodes.", "photodiode", "Earthworms."]

    for min_df in (2, 0.5):
        vectorizer = KeyphraseVectorizer(top=1, min_df=min_df).fit(texts)
        assert len(vectorizer.phrases_) == 1
        assert vectorizer.transform([SOIL, ""]).shape == (2, 1)


def test_every_option_reaches_the_extractor() -> None:
    settings: dict[str, Any] = {
        "top": 2,
        "style": "indexer",
        "candidates": ["graph networks", "sentences", "trees"],
        "seeds": ["tree"],
        "diversity": 0.5,
        "exclude": ["sentence"],
        "min_words": 1,
        "max_words": 2,
        "min_score": 0.0001,
    }
    assert set(settings) == set(Options.model_fields)

    vectorizer = KeyphraseVectorizer(**settings).fit([GRAPHS])

    expected = shared_extractor(None).extract(GRAPHS, **settings)
    assert sorted(vectorizer.phrases_) == sorted(phrase.text for phrase in expected)
    assert {phrase.text.lower() for phrase in expected} == {"graph networks", "trees"}


def test_without_the_extra_one_line_names_the_command(tmp_path: Path) -> None:
    (tmp_path / "sklearn.py").write_text("raise ImportError", encoding="utf-8")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import phraseloom.integrations.sklearn"
    )

    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    last = result.stderr.splitlines()[-1]
    assert "pip install '.[sklearn]'" in last


def test_weights_may_count_occurrences() -> None:
    vectorizer = KeyphraseVectorizer(top=1, weighting="count")

    assert dense(vectorizer.fit_transform(["Soil, soil and soil."])).tolist() == [[3]]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (GRAPHS, "not one string"),
        ([GRAPHS, None], "text 1 is None"),
        (pd.Series([float("nan"), GRAPHS]), "text 0 is nan"),
        (pd.DataFrame({"abstract": [GRAPHS]}), "one column"),
        (["", " "], "no phrase is in at least 1 of the texts"),
    ],
)
def test_bad_texts_are_refused(texts: Any, message: str) -> None:
    for kind in (PhraseloomError, ValueError):
        with pytest.raises(kind, match=message):
            KeyphraseVectorizer().fit(texts)


def test_a_wrong_setting_is_named_when_fitting() -> None:
    with pytest.raises(PhraseloomError, match="weighting must be one of"):
        KeyphraseVectorizer(weighting="tf").fit(TEXTS)
    with pytest.raises(PhraseloomError, match="top must be"):
        KeyphraseVectorizer(top=0).fit(TEXTS)


def test_a_clone_has_learned_nothing(fitted: KeyphraseVectorizer) -> None:
    with pytest.raises(NotFittedError):
        clone(fitted).get_feature_names_out()
    with pytest.raises(NotFittedError):
        clone(fitted).transform(TEXTS)


def test_a_grid_search_over_a_pipeline_works() -> None:
    texts = [GRAPHS, "Graph networks copy phrases.", LIGHT, "Photodiodes measure light."]
    pipeline = make_pipeline(
        KeyphraseVectorizer(weighting="count"), TfidfTransformer(), LogisticRegression()
    )
    search = GridSearchCV(pipeline, {"keyphrasevectorizer__top": [2, 3]}, cv=2)

    search.fit(texts, ["words", "words", "light", "light"])

    assert search.predict(["We cool the photodiodes."]) == ["light"]
