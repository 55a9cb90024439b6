"""Other languages are noticed; English is not, however odd."""

import pytest

from phraseloom.text.language import foreign_look, language_problem

FOREIGN = {
    "probably German": "Wir stellen ein Verfahren vor, das wichtige Wörter in den Texten findet."
    " Dazu wird ein Graph gebaut, dessen Kanten die Wörter verbinden, und er ist klein.",
    "probably French": "Nous présentons une méthode qui trouve les mots utiles dans des textes."
    " On construit un graphe dont les arêtes relient les mots, et il est petit.",
    "probably Spanish": "Presentamos un método que encuentra las palabras útiles en los textos."
    " Para ello se construye un grafo cuyas aristas unen las palabras, y es pequeño.",
    "probably Dutch": "Wij tonen een methode die de belangrijke woorden in teksten vindt. Daarvoor"
    " wordt er een graaf gebouwd waarvan de kanten de woorden verbinden, en die is klein.",
    "probably Polish": "Przedstawiamy metodę, która znajduje ważne słowa w tekstach. Do tego jest"
    " budowany graf, którego krawędzie łączą słowa, i jest on bardzo mały, ale nie zawsze tak.",
    "written in Chinese letters": "我们提出了一种在科学文本中寻找关键词的方法。"
    "该文本被转换为图，其边表示词语之间的依存关系。结果表明该方法很快。",
    "written in Japanese letters": "本論文では科学文献からキーワードを見つける手法を"
    "提案する。テキストは単語間の依存関係を表すグラフに変換される。",
    "written in Cyrillic letters": "Мы представляем метод, который находит важные слова в текстах.",
    "written in Arabic letters": "نقدم طريقة للعثور على الكلمات المهمة في النصوص العلمية الطويلة.",
    "written in Greek letters": "Παρουσιάζουμε μια μέθοδο που βρίσκει χρήσιμες λέξεις σε κείμενα.",
}

ENGLISH = {
    "prose": "We present a method that finds the words that matter in a text. A graph is built"
    " whose edges join the words, and it is small.",
    "formulas": "Let f(x) = sum_{i=1}^{n} a_i x^i with a_i in R, α β γ δ ≤ ε, ∇f(x) = 0, λ(A) ≤"
    " ‖A‖; then det(A − λ I) = 0 iff Av = λv for v ≠ 0. Lemma 3.1. Suppose A > 0. Then ρ(A) > 0.",
    "terms": "neural networks, graph convolution, keyphrase extraction, dependency parsing, beam"
    " search, attention, copy mechanism, word embeddings, subwords, stemming, macro F1, benchmark,"
    " diversity, sibling penalty, coverage, length penalty, tokenisation",
    "species": "Escherichia coli, Staphylococcus aureus, Klebsiella pneumoniae, Candida albicans,"
    " Saccharomyces cerevisiae, Drosophila melanogaster, Caenorhabditis elegans, Mus musculus,"
    " Arabidopsis thaliana, Homo sapiens, Mycobacterium tuberculosis",
    "code": "import torch def main(args): model = Net(args.width) for batch in loader: loss ="
    " model(batch).sum() loss.backward() optimizer.step() print(loss.item()) class Net: pass",
    "a quotation": "The title of the book is 'Die Leiden des jungen Werthers', and it was read by"
    " all of Europe in the years that followed, which is why we look at its language here.",
    "short": "Wir stellen ein Verfahren vor.",
    "nothing": "",
}


@pytest.mark.parametrize("look", FOREIGN)
def test_a_foreign_text_is_recognised(look: str) -> None:
    assert foreign_look(FOREIGN[look]) == look


@pytest.mark.parametrize("kind", ENGLISH)
def test_english_is_left_alone(kind: str) -> None:
    assert foreign_look(ENGLISH[kind]) is None
    assert language_problem(ENGLISH[kind]) is None


def test_the_message_is_one_line_that_shows_the_text() -> None:
    message = language_problem("\n\n" + FOREIGN["probably German"].replace(" ", "\n"))

    assert message is not None
    assert "\n" not in message
    assert message.startswith("'Wir stellen ein Verfahren vor, das wicht…' is probably German;")


def test_the_message_cannot_steer_a_terminal() -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\u202e" + FOREIGN["written in Cyrillic letters"]
    message = language_problem(hostile)

    assert message is not None
    assert message.startswith("'\ufffd]0;owned\ufffd\ufffd[2J\ufffd\u041c\u044b")
