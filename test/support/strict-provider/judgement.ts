/**
 * What a judge of requests says and knows. The judges here are written only from the refusals in docs/failures.md: they
 * share no code with the rules and the emulator, so a mistake in those is not made twice.
 *
 * @module
 */

export type Json = Readonly<Record<string, unknown>>;

export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly param?: string | undefined;
  readonly code?: string | undefined;
}

/** What the provider has issued so far; a judge compares the client's requests with it. */
export interface Issued {
  /** The items or blocks of each answer that was played whole, in order. */
  readonly answers: readonly (readonly Json[])[];
  /** The newest answer paused, so the conversation may end with the assistant's text. */
  readonly paused: boolean;
  /** It runs code in a container, whose id a client must send back with results. */
  readonly container: string | undefined;
}

export type Judge = (body: Json, issued: Issued) => Refusal | undefined;

export function refuse(message: string, rest: Partial<Refusal> = {}): Refusal {
  return { status: 400, message, ...rest };
}

export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export const object = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};

export const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(object) : []);

export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The first refusal of any of them. */
export function first<T>(
  values: readonly T[],
  look: (value: T, index: number) => Refusal | undefined,
): Refusal | undefined {
  for (const [index, value] of values.entries()) {
    const found = look(value, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
