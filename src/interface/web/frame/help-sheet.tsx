/** The keys of the page. */

import { Sheet } from "./sheet.tsx";

const GROUPS: readonly (readonly [
  name: string,
  keys: readonly (readonly [keys: string, effect: string])[],
])[] = [
  [
    "Write",
    [
      ["Enter", "Send; while a turn runs: queue"],
      ["Ctrl+Enter", "Send into the running turn"],
      ["Shift+Enter", "Start a new line"],
      ["Esc", "Stop the running turn"],
      ["Y  A  N", "Answer a permission that has the focus: once, for this session, deny"],
    ],
  ],
  [
    "Read",
    [
      ["Enter, Space", "Fold and unfold the focused thought or call"],
      ["Page Up, Home", "Leave the end of the conversation"],
      ["End", "Go to the latest and stay there"],
      ["/", "Search the sessions"],
    ],
  ],
  [
    "Inspect",
    [
      ["I", "Open and close the inspector"],
      ["Left, Right", "Change its tab"],
      ["Up, Down, Left, Right", "Walk through the trace"],
      ["?", "Show these keys"],
    ],
  ],
];

export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
  return (
    <Sheet title="Keys" onClose={onClose}>
      <div class="keys">
        {GROUPS.map(([name, keys]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map(([press, effect]) => (
                <div key={press}>
                  <dt>
                    <kbd>{press}</kbd>
                  </dt>
                  <dd>{effect}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Sheet>
  );
}
