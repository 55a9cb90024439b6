"""A rival's file is short, says its paper, and its examples hold."""

import doctest
import importlib
from pathlib import Path

import pytest

import rivals

FILES = sorted(Path(rivals.__file__).parent.glob("*.py"))
PAGE = Path(rivals.__file__).parents[1] / "docs" / "rivals.md"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_examples_hold(path: Path) -> None:
    if path.stem != "__main__":
        module = importlib.import_module(f"rivals.{path.stem}".removesuffix(".__init__"))
        assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_a_rival_is_a_short_file_that_names_its_paper_and_is_on_the_page(name: str) -> None:
    rival = rivals.RIVALS[name]
    module = importlib.import_module(rival.module)
    assert module.__file__ is not None and module.__doc__ is not None
    assert len(Path(module.__file__).read_text(encoding="utf-8").splitlines()) <= 200
    assert " et al., " in module.__doc__ or " and " in module.__doc__
    page = PAGE.read_text(encoding="utf-8")
    assert rival.title.partition(",")[0] in page and f"`{Path(module.__file__).name}`" in page
