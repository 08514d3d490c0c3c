/**
 * The part of Standard Schema (v1, with its JSON Schema extension) that a tool needs, as types only. Copied, as the
 * specification allows, so that the published declarations do not depend on a package that users may not have. A test
 * assigns real zod and valibot schemas to it.
 */

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of a validated value: what the schema's parser returns, after defaults and transformations. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

/** An arktype type is a function, so a callable value may be a schema too. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  if (!("~standard" in value)) return false;
  const standard = value["~standard"];
  return typeof standard === "object" && standard !== null && "validate" in standard;
}
