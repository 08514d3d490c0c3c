/**
 * Focuses an element that has just appeared. It must be one constant function: a ref that is a new function on every draw
 * would take the focus again with every event of a turn.
 */

export function focusWhenShown(element: HTMLElement | null): void {
  element?.focus();
}
