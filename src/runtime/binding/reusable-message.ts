import type { Message } from "@bufbuild/protobuf";
import { deepFreeze } from "./service-binding.ts";

/** What one writer has made of a message. */
interface Written {
  readonly by: object;
  readonly form: unknown;
}

/** The JSON, the bytes, and those of another RPC that returns it too. */
const MAX_WRITERS = 4;

const reusable = new WeakMap<Message, Written[]>();

/**
 * Marks a message that handlers return again and again, as long as what it says has not changed: its
 * JSON and its bytes are written once. Nobody can change it any more, as it is frozen with all that it
 * holds.
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
  reusable.set(message, []);
  return message;
}

/** The same writer, which writes reusable messages once: nobody may change what it returns. */
export function onceEach<Form>(write: (value: Message) => Form): (value: Message) => Form {
  return (value) => {
    const forms = reusable.get(value);
    if (forms === undefined) return write(value);
    for (const { by, form } of forms) if (by === write) return form as Form;
    const form = write(value);
    if (forms.length < MAX_WRITERS) forms.push({ by: write, form });
    return form;
  };
}
