/**
 * Gives the focus to what has just appeared. One function, always the same: a reference that is a new function with
 * every drawing would take the focus again with every event of a turn.
 */

export function focusWhenShown(element: HTMLElement | null): void {
  element?.focus();
}
