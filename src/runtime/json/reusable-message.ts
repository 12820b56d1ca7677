import type { Message } from "@bufbuild/protobuf";
import { deepFreeze } from "../binding/service-binding.ts";

/** The text of a message as one writer has made it; undefined before that. */
interface Written {
  by: object | undefined;
  text: string;
}

const reusable = new WeakMap<Message, Written>();

/**
 * Marks a message that handlers return again and again, as long as what it says has not changed: its
 * JSON is written once. Nobody can change it any more, as it is frozen with all that it holds.
 *
 * @returns the message
 * @throws TypeError if it holds bytes, which cannot be frozen
 *
 * @example
 * ```ts
 * const version = reusableMessage(create(GetVersionResponseSchema, { version: "1.4.0" }));
 * const getVersion = () => version;
 * ```
 */
export function reusableMessage<Shape extends Message>(message: Shape): Shape {
  deepFreeze(message);
  reusable.set(message, { by: undefined, text: "" });
  return message;
}

/** The same writer, which writes reusable messages once. */
export function onceEach(write: (value: Message) => string): (value: Message) => string {
  return (value) => {
    const written = reusable.get(value);
    if (written === undefined) return write(value);
    if (written.by !== write) {
      written.text = write(value);
      written.by = write;
    }
    return written.text;
  };
}
