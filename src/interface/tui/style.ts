/**
 * Colours and weights of the terminal interface. Without colour (`NO_COLOR`), styles leave the text unchanged: nothing is
 * conveyed by colour alone.
 */

export type Paint = (text: string) => string;

export type Style = ReturnType<typeof createStyle>;

export function createStyle(colour: boolean) {
  // Each style ends with its own code, so that styles nest.
  const paint =
    (on: number, off: number): Paint =>
    (text) =>
      colour && text !== "" ? `\u001B[${on}m${text}\u001B[${off}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    italic: paint(3, 23),
    underline: paint(4, 24),
    strike: paint(9, 29),
    accent: paint(36, 39),
    good: paint(32, 39),
    bad: paint(31, 39),
    warn: paint(33, 39),
  } as const;
}
