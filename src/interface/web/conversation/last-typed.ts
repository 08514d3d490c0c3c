/** When a key was last pressed anywhere on the page. */

let typedAt = Number.NEGATIVE_INFINITY;

addEventListener(
  "keydown",
  (event) => {
    // Enter sends a message; the question that follows may come at once.
    if (event.key !== "Enter") typedAt = performance.now();
  },
  { capture: true, passive: true },
);

export function lastTypedAt(): number {
  return typedAt;
}
