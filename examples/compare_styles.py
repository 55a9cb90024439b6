"""One text, as each kind of annotator that the model knows would have tagged it."""

from pathlib import Path

from phraseloom import Extractor

TEXT = Path(__file__).with_name("abstract.txt")


def main() -> None:
    extractor = Extractor.load()
    text = TEXT.read_text(encoding="utf-8")
    by_style = {
        style: {phrase.stems: phrase for phrase in extractor.extract(text, style=style)}
        for style in extractor.styles
    }
    for style, phrases in by_style.items():
        print(f"{style}, {len(phrases)} phrases")
        for stems, phrase in phrases.items():
            also = [other for other in by_style if other != style and stems in by_style[other]]
            print(f"  {phrase.text}" + (f" (also {', '.join(also)})" if also else ""))


if __name__ == "__main__":
    main()
