"""Character n-grams of a word, numbered as FastText numbers them.

Written here because people who only extract keyphrases do not install gensim; a test holds it to
gensim's numbers.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_FNV_OFFSET = 2166136261
_FNV_PRIME = 16777619
_UINT32 = 0xFFFFFFFF
_SIGN_BITS = 0xFFFFFF00


@lru_cache(maxsize=200_000)
def ngram_ids(word: str, *, min_n: int, max_n: int, buckets: int) -> NDArray[np.int64]:
    """Buckets of the word's character n-grams, its ends marked by ``<`` and ``>``.

    N-grams are hashed with 32-bit FNV-1a over their UTF-8 bytes. The result is cached, so it cannot
    be written to.

    Args:
        word: any text; an empty word has n-grams too, of its marks.
        min_n: characters in the shortest n-gram, marks included; at least one.
        max_n: characters in the longest.
        buckets: how many buckets there are; zero gives no ids.
    """
    ids = [] if buckets == 0 else [hashed % buckets for hashed in _hashes(word, min_n, max_n)]
    found = np.array(ids, dtype=np.int64)
    found.flags.writeable = False
    return found


def _hashes(word: str, min_n: int, max_n: int) -> list[int]:
    """Hash of every n-gram, by where it begins and then by length."""
    characters = [_signed_bytes(character) for character in f"<{word}>"]
    hashes = []
    for start in range(len(characters)):
        hashed = _FNV_OFFSET
        end = min(start + max_n, len(characters))
        for length, character in enumerate(characters[start:end], start=1):
            for byte in character:
                hashed = ((hashed ^ byte) * _FNV_PRIME) & _UINT32
            is_lone_mark = length == 1 and start in (0, len(characters) - 1)
            if length >= min_n and not is_lone_mark:
                hashes.append(hashed)
    return hashes


def _signed_bytes(character: str) -> list[int]:
    """UTF-8 bytes as FastText sees them: signed characters, widened to 32 bits with their sign."""
    encoded = character.encode("utf-8", errors="surrogatepass")
    return [byte | _SIGN_BITS if byte > 127 else byte for byte in encoded]
