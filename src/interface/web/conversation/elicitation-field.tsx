/** One field of a form that a tool asks for: a native input with its label, its description and what is wrong with it. */

import {
  type ChoicesField,
  type ElicitationField,
  type ElicitationValue,
  fieldTitle,
} from "../../../base/events/index.ts";
import { unmistakable, unmistakableLine } from "../../../base/support/index.ts";

interface FieldProps<Field extends ElicitationField = ElicitationField> {
  readonly field: Field;
  readonly id: string;
  /** An empty text is no value. */
  readonly value: ElicitationValue;
  readonly problem: string | undefined;
  readonly onChange: (value: ElicitationValue) => void;
}

export function FieldInput(props: FieldProps) {
  const { field, id, problem } = props;
  const label = `${unmistakableLine(fieldTitle(field))}${field.required ? "" : " (optional)"}`;
  if (field.type === "choices") return <Choices {...props} field={field} label={label} />;
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      <Notes field={field} id={id} problem={problem} />
      <Single {...props} />
    </div>
  );
}

function Notes({ field, id, problem }: Pick<FieldProps, "field" | "id" | "problem">) {
  const { description = "" } = field;
  return (
    <>
      {description === "" ? null : (
        <p class="plain said" id={`${id}-about`}>
          {unmistakable(description)}
        </p>
      )}
      {problem === undefined ? null : (
        <p class="problem" id={`${id}-problem`} role="alert">
          {unmistakableLine(fieldTitle(field))} {problem}
        </p>
      )}
    </>
  );
}

function Single({ field, id, value, problem, onChange }: FieldProps) {
  const shared = {
    id,
    "aria-describedby": `${id}-about ${id}-problem`,
    "aria-invalid": problem !== undefined,
    "aria-required": field.required,
  };
  if (field.type === "choice" || field.type === "boolean") {
    const options = field.type === "choice" ? field.options : YES_NO;
    // An empty row, unless there is always a value.
    const empty = !field.required || field.default === undefined;
    return (
      <select
        {...shared}
        class="field"
        value={String(value)}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {empty ? <option value="">–</option> : null}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {unmistakableLine(option.title)}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      {...shared}
      class="field"
      type={typeOf(field)}
      inputMode={field.type === "number" || field.type === "integer" ? "decimal" : undefined}
      autocomplete="off"
      spellcheck={false}
      value={String(value)}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

const YES_NO = [
  { value: "yes", title: "Yes" },
  { value: "no", title: "No" },
] as const;

/** A number is a text for the browser, because an input of that type hides what does not fit. */
function typeOf(field: ElicitationField): string {
  const format = field.type === "string" ? field.format : undefined;
  if (format === "email" || format === "date") return format;
  return format === "uri" ? "url" : "text";
}

function Choices({
  field,
  id,
  value,
  problem,
  label,
  onChange,
}: FieldProps<ChoicesField> & { readonly label: string }) {
  const chosen: readonly string[] = Array.isArray(value) ? value : [];
  const set = (one: string, on: boolean): void => {
    const next = field.options
      .map((option) => option.value)
      .filter((each) => (each === one ? on : chosen.includes(each)));
    // Nothing chosen in an optional field is no value; in a required one the form says what is missing.
    onChange(next.length === 0 && !field.required ? "" : next);
  };
  return (
    <fieldset class="form-field">
      <legend>{label}</legend>
      <Notes field={field} id={id} problem={problem} />
      {field.options.map((option, at) => (
        <label key={option.value} class="choice">
          <input
            type="checkbox"
            id={at === 0 ? id : undefined}
            checked={chosen.includes(option.value)}
            onChange={(event) => set(option.value, event.currentTarget.checked)}
          />
          {unmistakableLine(option.title)}
        </label>
      ))}
    </fieldset>
  );
}
