/** A value as JSON or YAML, to read and to copy. */

import { useState } from "preact/hooks";
import { stringify } from "yaml";

export function Raw({ value, label }: { readonly value: unknown; readonly label: string }) {
  const [yaml, setYaml] = useState(false);
  const text = yaml ? stringify(value) : JSON.stringify(value, undefined, 2);
  return (
    <section class="raw" aria-label={label}>
      <div class="composer-buttons">
        <button type="button" aria-pressed={!yaml} onClick={() => setYaml(false)}>
          JSON
        </button>
        <button type="button" aria-pressed={yaml} onClick={() => setYaml(true)}>
          YAML
        </button>
        <button type="button" onClick={() => void navigator.clipboard?.writeText(text)}>
          Copy
        </button>
      </div>
      <pre tabIndex={0}>{text}</pre>
    </section>
  );
}
