"""What is measured of the method, and the tables and figures drawn from it; not shipped."""

EXPERIMENTS = {
    "ablation": "scores of the network's variants, with and without diversified inference",
    "calibration": "what a score means: the share of phrases with it that are right",
    "case": "one document, all models side by side",
    "compare": "training runs beside each other on validation documents",
    "counting": "the paper's table of nodes and edges, counted in every way that it allows",
    "curve": "what a run scored while it learned",
    "depth": "whether a network can begin to learn: what its convolutions pass on, and get back",
    "dynamic": "what the dynamic graph is worth: who is told what was decoded before",
    "everyday": "lists of everyday text beside those of other extractors, set by set",
    "fragments": "how many phrases of lists are cut",
    "gallery": "twelve kinds of text, and the lists of three extractors",
    "graph": "what edges there are, and their weight while phrase after phrase is decoded",
    "grid": "train the networks that dynamic compares, each kind with each seed",
    "lambda": "scores over the paper's grids of the two diversity factors",
    "long": "terms that are spread over long documents: are they found?",
    "models": "models, or settings of their search, beside each other on validation documents",
    "peers": "other extractors on the same documents: quality and speed",
    "rivals": "the systems of the paper's tables, run here beside what was published",
    "tune": "search settings that do best on validation documents",
    "draw": "tables and figures again, from what was measured before",
    "report": "tables and figures into the pages of docs/",
}
"""Name and subject of each; ``MODULES`` says where it lives."""

MODULES = {name: f"experiments.{name}" for name in EXPERIMENTS} | {
    "lambda": "experiments.lambdas"  # the word itself is taken in Python
}
