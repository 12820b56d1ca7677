import { clone, type DescMessage, type Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/** Whether a message may have a field with `debug_redact`, at any depth; an Any may have one. */
export function mayHoldSecret(message: DescMessage): boolean {
  const messages = new Set([message]);
  // Iterating the set includes added ones.
  for (const one of messages) {
    if (one.typeName === "google.protobuf.Any") return true;
    for (const field of one.fields) {
      if (field.proto.options?.debugRedact === true) return true;
      if (field.message !== undefined) messages.add(field.message);
    }
  }
  return false;
}

/** A copy of a message without its fields with `debug_redact`, at any depth. */
export function withoutSecrets(schema: DescMessage, message: Message): Message {
  const copy = clone(schema, message);
  clear(reflect(schema, copy));
  return copy;
}

function clear(message: ReflectMessage): void {
  for (const field of message.fields) {
    if (field.proto.options?.debugRedact === true) {
      message.clear(field);
      continue;
    }
    if (field.message === undefined || !message.isSet(field)) continue;
    if (field.fieldKind === "message") clear(message.get(field) as ReflectMessage);
    if (field.fieldKind === "list" || field.fieldKind === "map") {
      const values = message.get(field) as unknown as { values(): Iterable<ReflectMessage> };
      for (const value of values.values()) clear(value);
    }
  }
}
