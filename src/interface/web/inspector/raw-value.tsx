/** A value as JSON or YAML behind a click, with its payloads shortened, and a button that copies it exactly. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { counted } from "./figures.ts";
import { withSealsShort } from "./sealed.ts";

interface Props {
  /** JSON text. Parsed only if it is shown. */
  readonly json: string;
  readonly label: string;
  /** The form that is shown before a person chooses one. */
  readonly initially?: Form | undefined;
  readonly children: ComponentChildren;
}

type Form = "json" | "yaml";

/** A browser is slow with longer texts. */
const MOST_SHOWN = 200_000;

export function RawValue({ json, label, initially, children }: Props) {
  const [form, setForm] = useState(initially);
  const [told, setTold] = useState("");
  useEffect(() => setTold(""), [json]);
  const copy = (): void => {
    navigator.clipboard.writeText(json).then(
      () => setTold("Copied"),
      () => setTold("The browser did not allow copying"),
    );
  };
  const toggle = (chosen: Form): void => setForm(form === chosen ? undefined : chosen);
  return (
    <>
      <div class="raw-actions">
        <span>{children}</span>
        <button type="button" class="link" aria-expanded={form === "json"} onClick={() => toggle("json")}>
          JSON
        </button>
        <button type="button" class="link" aria-expanded={form === "yaml"} onClick={() => toggle("yaml")}>
          YAML
        </button>
        <button type="button" class="link" onClick={copy}>
          Copy
        </button>
        <span role="status">{told}</span>
      </div>
      {form === undefined ? null : <Shown json={json} form={form} label={label} />}
    </>
  );
}

function Shown({
  json,
  form,
  label,
}: {
  readonly json: string;
  readonly form: Form;
  readonly label: string;
}) {
  const [text, setText] = useState<string>();
  useEffect(() => {
    let stale = false;
    setText(undefined);
    const show = async (): Promise<void> => {
      const made = await textOf(json, form);
      if (!stale) setText(made);
    };
    void show();
    return () => {
      stale = true;
    };
  }, [json, form]);
  if (text === undefined) return <p class="empty">Loading…</p>;
  return (
    <>
      <pre
        class="output raw-text"
        tabIndex={0}
        role="region"
        aria-label={`${label} as ${form.toUpperCase()}`}
      >
        {text.slice(0, MOST_SHOWN)}
      </pre>
      {text.length > MOST_SHOWN ? (
        <p class="empty">
          The first {counted(MOST_SHOWN, "character")} of {text.length.toLocaleString("en")}. Copy takes all.
        </p>
      ) : null}
    </>
  );
}

async function textOf(json: string, form: Form): Promise<string> {
  const value = withSealsShort(JSON.parse(json));
  if (form === "json") return JSON.stringify(value, undefined, 2);
  try {
    // Loaded when it is first wanted: it would be a third of the page's first load.
    const { stringify } = await import("yaml");
    return stringify(value);
  } catch {
    return "YAML could not be loaded from the server. JSON shows the same.";
  }
}
