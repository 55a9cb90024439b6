"""What a reader does with the page, in a real browser before a real server."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from phraseloom.explanation import explain
from phraseloom.extractor import Extractor
from phraseloom.server.app import create_app
from phraseloom.server.workers import ThreadWorker
from phraseloom.text.parsers import load_parser
from tests.builders import make_styled_model
from tests.server.serving import LiveServer
from tests.web.browsing import Complaints

TITLE = "Dynamic graphs 🎈"
TEXT = (
    "🍏🍏 Graph-based neural networks find keyphrases. The graph is dynamic 😀; it is re-scored\n"
    "after each phrase, and the Graph based networks say what is left."
)
DEFAULT_NUMBER = 8


@pytest.fixture(scope="module")
def server(extractor: Extractor) -> Iterator[LiveServer]:
    server = LiveServer(create_app([ThreadWorker(extractor)]))
    yield server
    server.stop()


@pytest.fixture
def opened(page: Page, server: LiveServer, complaints: Complaints) -> Iterator[Page]:
    page.goto(server.address)
    yield page
    assert complaints.messages == []


def enter(page: Page, text: str, title: str = "") -> None:
    page.get_by_label("Title").fill(title)
    page.get_by_role("textbox", name="Text", exact=True).fill(text)
    page.get_by_role("button", name="Find keyphrases").click()


def items(page: Page) -> Locator:
    return page.locator("#list .words")


def test_phrases_are_listed_and_marked_where_they_stand(opened: Page, extractor: Extractor) -> None:
    enter(opened, TEXT, TITLE)

    phrases = extractor.extract(TEXT, title=TITLE, top=DEFAULT_NUMBER)
    expect(items(opened)).to_have_text([phrase.text for phrase in phrases])
    scores = [f"{phrase.score:.3f}" for phrase in phrases]
    expect(opened.locator("#list .score")).to_have_text(scores)
    assert opened.locator("#reading-text").text_content() == TEXT
    assert opened.locator("#reading-title").text_content() == TITLE
    for phrase in phrases:
        expected = "".join(TEXT[start:end] for start, end in sorted(phrase.spans))
        marks = opened.locator(f'#reading-text mark[data-ranks~="{phrase.rank}"]')
        assert "".join(marks.all_text_contents()) == expected
    assert any(min(phrase.spans, default=(0, 0))[0] > 2 for phrase in phrases), "beyond an emoji"


def test_pasting_is_enough(opened: Page, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.evaluate("text => navigator.clipboard.writeText(text)", TEXT)
    opened.get_by_role("textbox", name="Text", exact=True).focus()
    opened.keyboard.press("Control+V")

    expect(items(opened)).to_have_count(DEFAULT_NUMBER)


def test_a_dropped_file_is_read(opened: Page) -> None:
    drop = """text => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([text], "notes.txt"));
        document.body.dispatchEvent(
            new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }"""
    opened.evaluate(drop, "\0binary")
    expect(opened.get_by_role("status")).to_contain_text("notes.txt is not plain text")
    opened.evaluate(drop, TEXT)

    expect(items(opened)).to_have_count(DEFAULT_NUMBER)


def test_a_sample_is_one_click_away(opened: Page) -> None:
    opened.get_by_role("button", name="Minutes").click()

    expect(items(opened)).to_have_count(DEFAULT_NUMBER)
    expect(opened.locator("#reading-title")).to_contain_text("project meeting")


def test_sliders_ask_again(opened: Page, extractor: Extractor) -> None:
    enter(opened, TEXT)
    expect(items(opened)).to_have_count(DEFAULT_NUMBER)
    opened.locator("#top").fill("3")
    expect(items(opened)).to_have_count(3)
    own = explain(extractor, TEXT).search.diversity
    assert float(opened.locator("#diversity").input_value()) == pytest.approx(own, abs=0.01)
    opened.locator("#diversity").fill("0.75")
    expect(opened.locator("#formula")).to_contain_text("Θ + 3 · DP")
    diverse = extractor.extract(TEXT, top=3, diversity=0.75)
    assert items(opened).all_text_contents() == [phrase.text for phrase in diverse]
    opened.locator("#top").fill("0")
    by_model = extractor.extract(TEXT, diversity=0.75)
    expect(items(opened)).to_have_text([phrase.text for phrase in by_model])


@pytest.mark.parametrize(
    ("entered", "options"),
    [
        ({"exclude": "graph, Networks"}, {"exclude": ["graph", "Networks"]}),
        ({"candidates": "keyphrases;phrase"}, {"candidates": ["keyphrases", "phrase"]}),
        ({"seeds": "phrase"}, {"seeds": ["phrase"]}),
        ({"min_words": "2", "max_words": "2"}, {"min_words": 2, "max_words": 2}),
        ({"min_score": "0.05"}, {"min_score": 0.05}),
    ],
    ids=lambda value: " ".join(value),
)
def test_options_ask_again(
    opened: Page, extractor: Extractor, entered: dict[str, str], options: dict[str, Any]
) -> None:
    enter(opened, TEXT)
    expect(items(opened)).to_have_count(DEFAULT_NUMBER)
    opened.get_by_text("Options", exact=True).click()
    for name, value in entered.items():
        opened.locator(f"#{name}").fill(value)

    phrases = extractor.extract(TEXT, top=DEFAULT_NUMBER, **options)
    expect(items(opened)).to_have_text([phrase.text for phrase in phrases])
    assert phrases != extractor.extract(TEXT, top=DEFAULT_NUMBER)


def test_styles_are_those_of_the_model(page: Page, opened: Page) -> None:
    opened.get_by_text("Options", exact=True).click()
    expect(opened.locator("#exclude")).to_be_visible()
    expect(opened.locator("#style")).to_be_hidden()  # this model knows none
    model, config = make_styled_model()
    styled = Extractor(model, config.search, load_parser("spacy"))
    server = LiveServer(create_app([ThreadWorker(styled)]))
    page.goto(server.address)
    page.get_by_text("Options", exact=True).click()
    page.locator("#style").select_option("indexer")
    enter(page, TEXT)

    phrases = styled.extract(TEXT, top=DEFAULT_NUMBER, style="indexer")
    expect(items(page)).to_have_text([phrase.text for phrase in phrases])
    assert phrases != styled.extract(TEXT, top=DEFAULT_NUMBER)
    server.stop()


def test_an_answer_that_comes_too_late_is_dropped(opened: Page) -> None:
    enter(opened, TEXT)
    expect(items(opened)).to_have_count(DEFAULT_NUMBER)
    held: list[Route] = []
    opened.route("**/v1/extract", lambda route: held.append(route), times=1)
    opened.locator("#top").fill("2")
    while not held:
        opened.wait_for_timeout(20)
    opened.locator("#top").fill("4")
    expect(items(opened)).to_have_count(4)
    held[0].continue_()
    opened.wait_for_timeout(300)

    expect(items(opened)).to_have_count(4)


def test_the_graph_is_stepped_through(opened: Page, extractor: Extractor) -> None:
    enter(opened, TEXT)
    expect(opened.locator("#graph")).to_be_visible()
    steps = explain(extractor, TEXT, top=DEFAULT_NUMBER).steps
    thickness: list[list[float]] = []
    for step in steps[:3]:
        expect(opened.locator("#step-phrase strong")).to_have_text(step.chosen.text)
        rivals = [candidate.text for candidate in (step.chosen, *step.runners_up)]
        expect(opened.locator("#rivals tbody th")).to_have_text(rivals)
        parts = opened.locator("#rivals tbody tr").first.locator("td").all_text_contents()
        assert parts[-1].replace("−", "-") == f"{step.chosen.total:.2f}"
        lines = opened.locator("#sentences .line")
        widths = lines.evaluate_all(
            "lines => lines.map(line => parseFloat(line.style.strokeWidth))"
        )
        pairs = zip([*sum(step.down, ())], [*sum(step.up, ())], strict=True)
        weights = [(down + up) / 2 for down, up in pairs]
        order = sorted(range(len(weights)), key=weights.__getitem__)
        assert [widths[i] for i in order] == sorted(widths), "thicker is heavier"
        thickness.append(widths)
        chosen = opened.locator("#sentences .word.now text").all_text_contents()
        assert " ".join(chosen).startswith(step.chosen.text.replace("-", " "))
        opened.keyboard.press("ArrowRight")
    assert thickness[0] != thickness[1] != thickness[2]
    opened.locator("#step").focus()
    opened.keyboard.press("Home")
    expect(opened.locator("#step-phrase strong")).to_have_text(steps[0].chosen.text)
    expect(opened.locator("#trend circle")).to_have_count(len(steps))


def test_the_steps_play_by_themselves(opened: Page) -> None:
    opened.clock.install()
    enter(opened, TEXT)
    expect(opened.locator("#step")).to_have_value("1")
    opened.get_by_role("button", name="Play").click()
    opened.clock.run_for(3100)
    expect(opened.locator("#step")).to_have_value("3")
    opened.get_by_role("button", name="Pause").click()
    opened.clock.run_for(5000)

    expect(opened.locator("#step")).to_have_value("3")


def test_pointing_at_a_phrase_shows_its_places_and_back(opened: Page) -> None:
    enter(opened, TEXT)
    opened.locator("#list button").first.hover()
    linked = opened.locator("mark.linked")
    assert linked.count() == opened.locator('mark[data-ranks~="1"]').count() > 0
    opened.locator("mark").first.hover()
    ranks = (opened.locator("mark").first.get_attribute("data-ranks") or "").split()
    listed = opened.locator("#list .linked .rank").all_text_contents()
    assert listed == ranks
    opened.locator("#list button").nth(2).focus()
    expect(opened.locator("#list .linked .rank")).to_have_text("3")


def test_markup_in_a_text_stays_text(opened: Page) -> None:
    evil = (
        "<script>window.hit = 1</script> The graph network <img src=x onerror='window.hit = 2'> "
        "reads <b>bold</b> graphs &amp; </textarea> trees."
    )
    enter(opened, evil, "<script>window.hit = 3</script> graphs")
    expect(items(opened)).to_have_count(DEFAULT_NUMBER)

    assert opened.locator("#reading-text").text_content() == evil
    assert opened.locator("#reading img, #reading b, #reading script").count() == 0
    assert opened.evaluate("window.hit") is None


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_an_empty_text_is_not_sent(opened: Page, text: str) -> None:
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.method))
    enter(opened, text)

    expect(opened.get_by_role("status")).to_have_text(
        "Paste a text first; there is nothing to read yet."
    )
    assert "POST" not in asked
    expect(opened.locator("#graph")).to_be_hidden()


def test_a_text_without_words_has_no_phrases(opened: Page) -> None:
    enter(opened, "… — !")

    expect(opened.get_by_role("status")).to_contain_text("No phrases in this text")
    expect(opened.locator("#graph")).to_be_hidden()
    expect(opened.get_by_role("button", name="Copy")).to_be_disabled()


def test_nothing_is_lost_when_the_server_goes(page: Page, extractor: Extractor) -> None:
    server = LiveServer(create_app([ThreadWorker(extractor)]))
    page.goto(server.address)
    enter(page, TEXT)
    expect(items(page)).to_have_count(DEFAULT_NUMBER)
    server.stop()
    page.locator("#top").fill("2")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    expect(items(page)).to_have_count(DEFAULT_NUMBER)
    assert page.locator("#text").input_value() == TEXT
    again = LiveServer(create_app([ThreadWorker(extractor)]), server.port)
    page.get_by_role("button", name="Try again").click()
    expect(items(page)).to_have_count(2)
    expect(page.get_by_role("alert")).to_be_hidden()
    again.stop()


def test_a_token_can_be_given(page: Page, extractor: Extractor) -> None:
    server = LiveServer(create_app([ThreadWorker(extractor)], token="sesame"))
    page.goto(server.address)
    enter(page, TEXT)
    expect(page.get_by_role("alert")).to_contain_text("asks for a token")
    page.get_by_label("Token").fill("barley")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_contain_text("not that of this server")
    page.get_by_label("Token").fill("sesame")
    page.get_by_label("Token").press("Enter")
    expect(items(page)).to_have_count(DEFAULT_NUMBER)
    server.stop()


def test_what_the_server_objects_to_is_said(opened: Page, complaints: Complaints) -> None:
    enter(opened, "word " * 21_000)
    expect(opened.get_by_role("alert")).to_contain_text("a text may have 100000 characters")
    complaints.messages.clear()  # the browser notes the status of the answer


def test_the_result_can_be_taken_along(
    opened: Page, context: BrowserContext, extractor: Extractor, tmp_path: Path
) -> None:
    enter(opened, TEXT)
    expect(items(opened)).to_have_count(DEFAULT_NUMBER)
    phrases = extractor.extract(TEXT, top=DEFAULT_NUMBER)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.get_by_role("button", name="Copy").click()
    expect(opened.get_by_role("status")).to_contain_text("Copied")
    copied = opened.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines() == [phrase.text for phrase in phrases]
    rows = list(csv.reader(io.StringIO(downloaded(opened, "CSV", tmp_path))))
    assert rows[0] == ["rank", "text", "score", "start", "end"]
    assert [row[1] for row in rows[1:]] == [phrase.text for phrase in phrases]
    assert all(TEXT[int(row[3]) : int(row[4])].split() for row in rows[1:] if row[3])
    content: dict[str, Any] = json.loads(downloaded(opened, "JSON", tmp_path))
    spans = [[list(span) for span in phrase.spans] for phrase in phrases]
    assert [phrase["spans"] for phrase in content["keyphrases"]] == spans


def downloaded(page: Page, button: str, folder: Path) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    path = folder / button
    download.value.save_as(path)
    return path.read_text(encoding="utf-8")


def test_light_and_dark_can_be_switched_and_stay(opened: Page) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light = opened.evaluate(background)
    opened.get_by_role("button", name="Switch between light and dark").click()
    dark = opened.evaluate(background)
    opened.reload()

    assert light != dark == opened.evaluate(background)


def test_a_phone_scrolls_the_graph_and_not_the_page(opened: Page) -> None:
    opened.set_viewport_size({"width": 375, "height": 800})
    enter(opened, TEXT, TITLE)
    expect(opened.locator("#graph")).to_be_visible()

    assert opened.evaluate("document.documentElement.scrollWidth") == 375
    widths = opened.locator(".scroll").evaluate_all("all => all.map(e => e.scrollWidth)")
    assert max(widths) > 375


def test_everything_can_be_reached_by_keyboard(opened: Page) -> None:
    enter(opened, TEXT)
    expect(items(opened)).to_have_count(DEFAULT_NUMBER)
    opened.locator("#theme").focus()
    name = "at => at.id || at.classList[0] || at.localName"
    seen = ["theme"]
    while seen[-1] != "play" and len(seen) < 100:  # each phrase and each of its places is one
        opened.keyboard.press("Tab")
        seen.append(opened.locator("*:focus").evaluate(name))
    wanted = ["theme", "edit", "copy", "csv", "json", "top", "diversity", "summary", "phrase"]
    wanted += ["step", "play"]
    assert [name for name in dict.fromkeys(seen) if name in wanted] == wanted
    opened.locator("#edit").focus()
    opened.keyboard.press("Enter")
    expect(opened.get_by_role("textbox", name="Text", exact=True)).to_be_focused()
    opened.keyboard.press("Control+Enter")
    expect(opened.locator("#reading")).to_be_visible()
