/**
 * A schema of any library that implements Standard Schema (https://standardschema.dev), such as zod,
 * valibot and arktype, or one of your own. Only synchronous validation is supported.
 *
 * @typeParam Input - what it accepts
 * @typeParam Output - what it returns, with defaults and conversions
 *
 * @example
 * ```ts
 * const limits: StandardSchema<unknown, { readonly max_items: number }> = {
 *   "~standard": {
 *     version: 1,
 *     vendor: "notes",
 *     validate(value) {
 *       const { max_items = 100 } = (value ?? {}) as { readonly max_items?: unknown };
 *       if (typeof max_items === "number" && max_items > 0) return { value: { max_items } };
 *       return { issues: [{ message: "must be a number above 0", path: ["max_items"] }] };
 *     },
 *   },
 * };
 * ```
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** What Standard Schema declares. */
  readonly "~standard": {
    /** The version of Standard Schema. */
    readonly version: 1;
    /** The name of the library. */
    readonly vendor: string;
    /** Validates a value, without changing it. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Only for inference: no value has it. */
    readonly types?:
      | {
          /** What the schema accepts. */
          readonly input: Input;
          /** What the schema returns. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** The result of a validation: a value, or issues. */
export type StandardResult<Output> =
  | {
      /** The valid value. */
      readonly value: Output;
      readonly issues?: undefined;
    }
  | {
      /** Why the value is not valid. */
      readonly issues: readonly StandardIssue[];
    };

/** Why a value is not valid. */
export interface StandardIssue {
  /** What is wrong, on one line. */
  readonly message: string;
  /** The keys and indices that lead to it; absent for the whole value. */
  readonly path?:
    | readonly (
        | PropertyKey
        | {
            /** The key or index. */
            readonly key: PropertyKey;
          }
      )[]
    | undefined;
}

/** The sections of a service's own in its configuration, by their keys, each with its schema. */
export type ConfigurationSections = Readonly<Record<string, StandardSchema>>;

/** The values of sections, as their schemas return them. */
export type SectionValues<Sections> = {
  readonly [Name in keyof Sections]: Sections[Name] extends StandardSchema<infer _, infer Output>
    ? Output
    : never;
};
