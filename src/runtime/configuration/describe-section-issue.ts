import type * as z from "zod/mini";
import { describeValue } from "../../config/describe-value.ts";
import type { StandardIssue } from "./standard-schema.ts";

/** The issues of zod whose messages are not meant for people, unless a schema gives its own. */
const RAW = /^(?:Invalid |Too (?:small|big)|Unrecognized )/;
const NOT_VALID = "is not valid";

/**
 * What a value of a section must be, in terms of YAML. The messages of other libraries, and those of a
 * schema of its own, are as they are.
 *
 * @param input the value
 */
export function describeSectionIssue(issue: StandardIssue, input: unknown): string {
  const { message, path = [] } = issue;
  if (typeof message !== "string") return NOT_VALID;
  const raw = { ...issue, path, input } as unknown as z.core.$ZodIssue;
  if (!RAW.test(message) || typeof raw.code !== "string") return message;
  try {
    return describeRaw(raw);
  } catch {
    // Another version of zod, or another library, may have other fields, or of other types.
    return NOT_VALID;
  }
}

function describeRaw(raw: z.core.$ZodIssue): string {
  switch (raw.code) {
    case "invalid_type":
    case "invalid_value":
    case "too_small":
    case "too_big":
      return describeValue(raw, "a number");
    case "not_multiple_of":
      return `must be a multiple of ${raw.divisor}`;
    case "invalid_format":
      return raw.format === "url" ? "must be a URL" : NOT_VALID;
    case "invalid_union": {
      // The message that a schema gives to one of the alternatives says what is meant; zod 3 has none here.
      const alternatives = raw.errors?.flat() ?? [];
      const meant = alternatives.find(({ path, message }) => isOwn(message) && path.length === 0);
      return meant?.message ?? NOT_VALID;
    }
    case "invalid_key":
      return raw.issues.find(({ message }) => isOwn(message))?.message ?? "is not a valid key";
    default:
      return describeFormer(raw);
  }
}

/** The issues of zod 3 that have another code now. */
function describeFormer(raw: { readonly code: unknown; readonly options?: unknown }): string {
  const { code, options } = raw;
  if (code !== "invalid_enum_value" || !Array.isArray(options)) return NOT_VALID;
  return describeValue({ ...raw, code: "invalid_value", values: options } as never);
}

function isOwn(message: string): boolean {
  return message.startsWith("must ");
}
