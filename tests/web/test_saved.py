"""The page as one file: the same page, from the disk, and nothing else is loaded."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from phraseloom.explanation import explain
from phraseloom.extractor import Extractor
from phraseloom.options import Options
from phraseloom.text.document import Source
from phraseloom.web.saved import bundle, page_files, saved_page, search_for_page
from tests.web.browsing import Complaints

SOURCE = Source(
    "😀 Graph networks read </script><script>window.hit = 1</script> trees.\u2028Old <!-- graph "
    "networks weigh each edge of a tree once; dynamic ones weigh it again for each phrase.",
    title="Graph <b>networks</b>",
)
MOST = 6


@pytest.fixture(scope="module")
def saved(extractor: Extractor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "page.html"
    path.write_text(saved_page(search_for_page(extractor, SOURCE, most=MOST)), encoding="utf-8")
    return path


def test_each_number_has_the_search_of_its_own(extractor: Extractor) -> None:
    options = Options(exclude=["tree"])
    search = search_for_page(extractor, SOURCE, options, most=MOST)

    results = [search["by_model"], *search["numbers"]]
    for top, result in zip([None, *range(1, MOST + 1)], results, strict=True):
        explained = explain(extractor, SOURCE.text, options, title=SOURCE.title, top=top).as_json()
        assert result["keyphrases"] == list(explained["keyphrases"])
        steps = search["explanation"]["steps"][: result["steps"]]
        assert [{**step, "rank": None} for step in steps] == [
            {**step, "rank": None} for step in explained["steps"]
        ]


def test_a_text_cannot_end_the_script_that_holds_it(saved: Path) -> None:
    content = saved.read_text(encoding="utf-8")

    assert content.count("</script>") == 2
    assert "window.hit = 1</script" not in content
    assert "\u2028" not in content
    assert not re.search(r'(src|href)="(?!data:)', content), "it is whole"


def test_a_file_works_without_a_server(
    page: Page, complaints: Complaints, saved: Path, extractor: Extractor
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(saved.as_uri())
    words = page.locator("#list .words")
    for number in (MOST, 2):
        page.locator("#top").fill(str(number))
        phrases = extractor.extract(SOURCE.text, title=SOURCE.title, top=number)
        expect(words).to_have_text([phrase.text for phrase in phrases])
    page.locator("#top").fill("0")
    by_model = explain(extractor, SOURCE.text, title=SOURCE.title)
    expect(words).to_have_text([phrase.text for phrase in by_model.keyphrases])
    expect(page.locator("#step")).to_have_attribute("max", str(len(by_model.steps)))
    assert page.locator("#reading-text").text_content() == SOURCE.text
    assert page.locator("#reading-title").text_content() == SOURCE.title
    page.locator("#top").fill(str(MOST))
    expect(words).to_have_count(MOST)
    page.locator("#next").click()
    second = explain(extractor, SOURCE.text, title=SOURCE.title, top=MOST).steps[1]
    expect(page.locator("#step-phrase strong")).to_have_text(second.chosen.text)
    for hidden in ("#diversity", "#options"):
        expect(page.locator(hidden)).to_be_hidden()
    assert page.evaluate("window.hit") is None
    assert asked == [saved.as_uri()]
    assert complaints.messages == []


def test_the_files_are_what_the_page_needs_and_nothing_else() -> None:
    files = page_files()

    linked = re.findall(r'(?:src|href)="([\w.]+)"', files["index.html"])
    imported = re.findall(r'from "\./(\w+\.js)"', "".join(files.values()))
    assert set(files) == {"index.html", *linked, *imported}


def test_a_bundle_has_every_module_once_and_after_what_it_needs() -> None:
    script = bundle("app")

    names = re.findall(r"^const (\w+)_js = ", script, re.MULTILINE)
    assert names[-1] == "app"
    assert len(names) == len(set(names)) > 5
    for place, part in enumerate(re.split(r"^const \w+_js = ", script, flags=re.MULTILINE)[1:]):
        needed = re.findall(r"^const \{[^}]*\} = (\w+)_js;", part, re.MULTILINE)
        assert set(needed) <= set(names[:place])
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
