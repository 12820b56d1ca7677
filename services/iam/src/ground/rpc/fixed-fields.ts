import {
  type DescField,
  type DescMessage,
  isFieldSet,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "svc-access/runtime";

/** An update without a mask, by its message. */
export interface WholeUpdate<Desc extends DescMessage> {
  readonly schema: Desc;
  readonly given: MessageShape<Desc> | undefined;
  readonly mask: FieldMask | undefined;
  /** The names of the fields that it may change. */
  readonly changeable: readonly string[];
}

/**
 * Refuses an update without a mask that has other values in fields which it does not change: whoever sends
 * `disabled` must not believe that it was done. A resource may be sent back as it was read; times and the etag are not
 * compared.
 *
 * @param stored the message of before, which is only asked for where something is to be compared
 * @throws ServiceError INVALID_ARGUMENT
 */
export async function refuseFixedFields<Desc extends DescMessage>(
  { schema, given, mask, changeable }: WholeUpdate<Desc>,
  stored: () => MessageShape<Desc> | Promise<MessageShape<Desc>>,
): Promise<void> {
  if (mask !== undefined || given === undefined) return;
  const sent = schema.fields.filter(
    (field) => isFixed(field, changeable) && isFieldSet(given, field),
  );
  if (sent.length === 0) return;
  const before = await stored();
  const others = sent.filter((field) => textOf(given, field) !== textOf(before, field));
  if (others.length === 0) return;
  const problem = `cannot be changed here: leave it out; only ${changeable.join(", ")} can be changed`;
  throw new ServiceError(
    "INVALID_ARGUMENT",
    others.map(({ name }) => `${name} ${problem}`).join("; "),
    { details: { fields: Object.fromEntries(others.map(({ name }) => [name, problem])) } },
  );
}

function isFixed({ name, fieldKind, message }: DescField, changeable: readonly string[]): boolean {
  const isCompared = fieldKind !== "map" && message === undefined && name !== "etag";
  return isCompared && !changeable.includes(name);
}

/** The value as text; the members of a list in any order. */
function textOf(message: object, { localName }: DescField): string {
  const value = (message as Readonly<Record<string, unknown>>)[localName];
  return JSON.stringify(Array.isArray(value) ? [...value].sort() : value);
}
