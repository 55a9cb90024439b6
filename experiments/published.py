"""What the Div-DGCN paper reports. Copied from its tables, never run here; marked so everywhere."""

MARK = "published, not run here"

SETS = {
    "inspec": "Inspec",
    "krapivin": "Krapivin",
    "nus": "NUS",
    "semeval": "SemEval",
    "kp20k": "KP20k",
}
DOCUMENTS = {"inspec": 500, "krapivin": 400, "nus": 211, "semeval": 100, "kp20k": 20_000}

Row = dict[str, tuple[float, ...]]


def _pairs(*values: float | None) -> Row:
    """Two values a set, in the order of `SETS`; a set that the paper leaves out has none."""
    pairs = zip(SETS, values[::2], values[1::2], strict=True)
    return {
        name: (first, second)
        for name, first, second in pairs
        if first is not None and second is not None
    }


def _singles(*values: float) -> Row:
    return {name: (value,) for name, value in zip(SETS, values, strict=True)}


F1: dict[str, Row] = {
    "Transformer": _pairs(0.254, 0.210, 0.328, 0.252, None, None, 0.310, 0.257, 0.360, 0.282),
    "catSeq": _pairs(0.262, 0.225, 0.354, 0.269, 0.397, 0.323, 0.283, 0.242, 0.367, 0.291),
    "catSeqD": _pairs(0.263, 0.219, 0.349, 0.264, 0.394, 0.321, 0.274, 0.233, 0.363, 0.285),
    "catSeqCorr": _pairs(0.269, 0.227, 0.349, 0.265, 0.390, 0.319, 0.290, 0.246, 0.365, 0.289),
    "catSeqTG": _pairs(0.270, 0.229, 0.366, 0.282, 0.393, 0.325, 0.290, 0.246, 0.366, 0.292),
    "catSeqD-2RF1": _pairs(0.292, 0.242, 0.360, 0.282, 0.419, 0.353, 0.316, 0.272, 0.379, 0.305),
    "ExHiRD-h": _pairs(0.291, 0.253, 0.347, 0.286, None, None, 0.335, 0.284, 0.374, 0.311),
    "GCN": _pairs(0.312, 0.261, 0.331, 0.262, 0.391, 0.325, 0.303, 0.264, 0.350, 0.281),
    "Div-GCN": _pairs(0.360, 0.331, 0.324, 0.280, 0.389, 0.371, 0.317, 0.289, 0.343, 0.304),
    "DGCN": _pairs(0.327, 0.275, 0.354, 0.284, 0.397, 0.328, 0.319, 0.280, 0.359, 0.290),
    "Div-DGCN": _pairs(0.376, 0.348, 0.345, 0.313, 0.391, 0.379, 0.323, 0.320, 0.349, 0.313),
}
"""F1@M and F1@5, filled, macro; mean of three seeds."""

F1_DEVIATION: dict[str, Row] = {
    "GCN": _pairs(0.007, 0.004, 0.009, 0.005, 0.013, 0.014, 0.009, 0.009, 0.004, 0.002),
    "Div-GCN": _pairs(0.008, 0.006, 0.005, 0.003, 0.007, 0.011, 0.006, 0.004, 0.001, 0.002),
    "DGCN": _pairs(0.007, 0.008, 0.007, 0.004, 0.009, 0.002, 0.008, 0.012, 0.000, 0.004),
    "Div-DGCN": _pairs(0.003, 0.006, 0.002, 0.004, 0.007, 0.006, 0.009, 0.014, 0.002, 0.003),
}

NDCG: dict[str, Row] = {
    "DivGraphPointer": _singles(0.503, 0.591, 0.518, 0.534, 0.532),
    "CatSeqTG-2RF1": _singles(0.614, 0.586, 0.780, 0.677, 0.592),
    "GCN": _singles(0.657, 0.582, 0.787, 0.677, 0.590),
    "DGCN": _singles(0.663, 0.597, 0.797, 0.704, 0.616),
    "Div-DGCN": _singles(0.692, 0.611, 0.797, 0.701, 0.620),
}
"""NDCG@10."""

NDCG_DEVIATION: dict[str, Row] = {
    "GCN": _singles(0.005, 0.002, 0.009, 0.015, 0.006),
    "DGCN": _singles(0.003, 0.003, 0.007, 0.010, 0.005),
    "Div-DGCN": _singles(0.004, 0.008, 0.014, 0.016, 0.001),
}

UNFILLED: dict[str, Row] = {
    "CopyRNN": _pairs(0.278, 0.342, 0.311, 0.266, 0.334, 0.326, 0.293, 0.304, 0.333, 0.262),
    "CatSeqD (2018)": _pairs(0.276, 0.333, 0.325, 0.285, 0.374, 0.366, 0.327, 0.352, 0.348, 0.298),
    "TG-Net (2019)": _pairs(0.315, 0.381, 0.349, 0.295, 0.406, 0.370, 0.318, 0.322, 0.372, 0.315),
    "ParaNetT+CoAtt (2019)": _pairs(
        *(0.296, 0.357, 0.329, 0.282, 0.360, 0.350, 0.311, 0.312, 0.360, 0.289)
    ),
    "SKE-Large-Rank (2020)": _pairs(
        *(0.300, 0.334, 0.313, 0.264, 0.400, 0.379, 0.356, 0.351, 0.392, 0.328)
    ),
    "Div-DGCN": _pairs(0.369, 0.385, 0.355, 0.354, 0.408, 0.407, 0.344, 0.325, 0.352, 0.347),
}
"""F1@5 and F1@10, unfilled."""

NUMBERS: dict[str, dict[str, tuple[float, float | None]]] = {
    "catSeqTG-2RF1": {"inspec": (3.45, 1.41), "semeval": (3.73, 1.48)},
    "ExHiRD-h": {"inspec": (4.00, None), "semeval": (3.65, None), "kp20k": (3.97, 0.81)},
    "catSeqD": {"inspec": (3.33, 1.25), "semeval": (3.47, 1.28)},
    "GCN": {"inspec": (3.53, 1.55), "semeval": (3.77, 1.45)},
    "DGCN": {"inspec": (3.58, 1.60), "semeval": (4.05, 1.58)},
    "Div-DGCN": {"inspec": (5.40, 2.26), "semeval": (6.10, 1.91), "kp20k": (4.90, 1.45)},
}
"""Average and correct number of phrases."""

GRAPHS = {
    "inspec": (145.27, 374.07, 40.64, 75.82),
    "krapivin": (197.24, 532.32, 19.66, 72.48),
    "nus": (240.81, 627.68, 34.97, 109.00),
    "semeval": (245.72, 679.97, 43.98, 131.78),
}
"""Nodes, edges, in–in edges and in–out edges per document."""
