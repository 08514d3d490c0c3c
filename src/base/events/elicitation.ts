/**
 * A question that a running tool asks a person, and the answer. A tool server asks such questions (MCP elicitation); the
 * values that the person types go to that server and nowhere else.
 */

/** What every field of a form has. */
interface FieldBase {
  /** The name under which the server gets the value. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required: boolean;
}

/** One value of a list to choose from, and the words that a person reads. */
export interface ElicitationOption {
  readonly value: string;
  readonly title: string;
}

export type TextFormat = "email" | "uri" | "date" | "date-time";

export interface TextField extends FieldBase {
  readonly type: "string";
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly format?: TextFormat | undefined;
  readonly default?: string | undefined;
}

export interface NumberField extends FieldBase {
  readonly type: "number" | "integer";
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly default?: number | undefined;
}

export interface FlagField extends FieldBase {
  readonly type: "boolean";
  readonly default?: boolean | undefined;
}

export interface ChoiceField extends FieldBase {
  readonly type: "choice";
  readonly options: readonly ElicitationOption[];
  readonly default?: string | undefined;
}

/** Several of the options. */
export interface ChoicesField extends FieldBase {
  readonly type: "choices";
  readonly options: readonly ElicitationOption[];
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly default?: readonly string[] | undefined;
}

/** A field of a form: flat and primitive. */
export type ElicitationField = TextField | NumberField | FlagField | ChoiceField | ChoicesField;

/** What a server asks: values for a form, or that the person opens an address. */
export type Elicitation = {
  /** The name of the server, as the person configured it. */
  readonly server: string;
  readonly message: string;
} & (
  | { readonly mode: "form"; readonly fields: readonly ElicitationField[] }
  | { readonly mode: "url"; readonly url: string }
);

export type ElicitationValue = string | number | boolean | readonly string[];

export type ElicitationContent = Readonly<Record<string, ElicitationValue>>;

/**
 * What the server gets. `decline`: the person says no. `cancel`: nobody decided, for example because the turn was
 * stopped. Only `accept` has values; those of an address are empty.
 */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content: ElicitationContent }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

/** The words that a person reads for a field. */
export function fieldTitle({ name, title }: ElicitationField): string {
  return title === undefined || title.trim() === "" ? name : title;
}
