import { type Readable, Transform, type TransformCallback } from "node:stream";
import { ServiceError } from "../error/service-error.ts";

/** Whole groups of base64; a client may encode its messages one by one, each with its padding. */
const GROUPS = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*$/;
const GROUP = 4;
/** Ends with the padding, where it has one. */
const PART = /[^=]+=*/g;

/** A part of a body in base64, which may stand behind others. */
export function encodeBase64(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("base64"), "latin1");
}

/**
 * Reads a body that is base64.
 *
 * @param onRefused is told of what is none
 */
export function decodeBase64(body: Readable, onRefused: (reason: ServiceError) => void): Readable {
  const decoder = new Base64Decoder();
  decoder.on("error", (error) => {
    body.unpipe(decoder);
    onRefused(error as ServiceError);
  });
  return body.pipe(decoder);
}

class Base64Decoder extends Transform {
  #rest = "";

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = this.#rest + chunk.toString("latin1");
    const end = text.length - (text.length % GROUP);
    const whole = text.slice(0, end);
    this.#rest = text.slice(end);
    if (!GROUPS.test(whole)) return done(malformed());
    if (!whole.includes("=")) return done(null, Buffer.from(whole, "base64"));
    const parts = whole.match(PART) ?? [];
    done(null, Buffer.concat(parts.map((part) => Buffer.from(part, "base64"))));
  }

  override _flush(done: TransformCallback): void {
    done(this.#rest === "" ? null : malformed());
  }
}

function malformed(): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", "the body is not valid base64");
}
