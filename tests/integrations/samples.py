"""Small texts for the tests of integrations."""

GRAPHS = (
    "Graph networks read whole sentences. Graph networks learn from dependency trees, and a copy"
    " decoder says what a sentence is about."
)
LIGHT = (
    "Silicon photodiodes measure weak light. We cool the photodiodes to lower their dark current"
    " and measure single photons."
)
SOIL = (
    "Earthworms mix the soil of old forests. Soil fungi feed the trees, and trees shade the soil"
    " in dry summers."
)
HYPHENS = "Object-oriented languages describe state-of-the-art client/server systems."
TEXTS = [GRAPHS, LIGHT, SOIL]
