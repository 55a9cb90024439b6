// Places in a text. Offsets from Python count code points; strings here count UTF-16 units.

/** Where each code point of a text begins, in UTF-16 units, and at last where the text ends. */
export function unitOffsets(text) {
  const offsets = [0];
  for (const character of text) offsets.push(offsets[offsets.length - 1] + character.length);
  return offsets;
}

/**
 * Cut a text where phrases begin and end; joined, the stretches are the text again.
 * Takes rank and spans of each phrase, in code points; spans may overlap.
 */
export function cutText(text, places) {
  const offsets = unitOffsets(text);
  const changes = new Map([[0, []], [text.length, []]]);
  const note = (place, rank, change) => {
    const unit = offsets[place];
    if (!changes.has(unit)) changes.set(unit, []);
    changes.get(unit).push([rank, change]);
  };
  for (const { rank, spans } of places) {
    for (const [start, end] of spans) {
      note(start, rank, 1);
      note(end, rank, -1);
    }
  }
  const borders = [...changes.keys()].sort((a, b) => a - b);
  const depths = new Map();
  return borders.slice(0, -1).map((start, i) => {
    for (const [rank, change] of changes.get(start)) {
      depths.set(rank, (depths.get(rank) ?? 0) + change);
    }
    const ranks = [...depths.keys()].filter((rank) => depths.get(rank)).sort((a, b) => a - b);
    return { text: text.slice(start, borders[i + 1]), ranks };
  });
}
