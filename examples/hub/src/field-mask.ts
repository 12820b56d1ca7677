import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "svc-access/runtime";

/**
 * Copies the fields of a mask; without one, those that are filled.
 *
 * @param fixed the fields that nobody changes, in protobuf names
 */
export function applyMask<Schema extends DescMessage>(
  schema: Schema,
  target: MessageShape<Schema>,
  source: MessageShape<Schema>,
  mask: FieldMask | undefined,
  fixed: readonly string[],
): void {
  const from = reflect(schema, source);
  const to = reflect(schema, target);
  const paths =
    mask?.paths ?? from.fields.filter((field) => from.isSet(field)).map(({ name }) => name);
  for (const path of paths) {
    const field = from.fields.find(({ name }) => name === path);
    if (field === undefined) {
      throw new ServiceError("INVALID_ARGUMENT", `update_mask names the unknown field ${path}`);
    }
    if (fixed.includes(path)) {
      if (mask === undefined) continue;
      throw new ServiceError("INVALID_ARGUMENT", `${path} cannot be changed`);
    }
    if (from.isSet(field)) to.set(field, from.get(field));
    else to.clear(field);
  }
}
