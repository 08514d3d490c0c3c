/**
 * What stores of applications lose, in the form of each library:
 *
 *   reasoning       its thoughts
 *   metadata        what only the provider understands: ids, signatures, ciphertext
 *   payloads        signatures and ciphertext; the thoughts and their ids stay
 *   words           the text of thoughts; signatures and ciphertext stay
 *   tools           calls and results
 *   allButText      everything but the words of user and model
 *   allButThoughts  everything but thoughts
 *
 * @module
 */

/** The losses of a list whose entries have parts. `partsOf(entry)`, `withParts(entry, parts)`; an entry without parts goes. */
export function lossesOfParts({ partsOf, withParts, kind, bare, ...change }) {
  const each = (edit) => (history) =>
    history
      .map((entry) =>
        withParts(
          entry,
          partsOf(entry).flatMap((part) => edit(part) ?? []),
        ),
      )
      .filter((entry) => partsOf(entry).length > 0);
  const thoughts = (edit) => each((part) => (kind(part) === "thought" ? edit(part) : part));
  const only = (...kinds) => each((part) => (kinds.includes(kind(part)) ? part : undefined));
  return {
    reasoning: thoughts(() => undefined),
    metadata: each(bare),
    payloads: thoughts(change.withoutPayload),
    words: thoughts(change.withoutWords),
    tools: only("thought", "text"),
    allButText: (history) => each(bare)(only("text")(history)),
    allButThoughts: only("thought"),
  };
}

/** A copy without these members. */
export function omit(object, ...names) {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
