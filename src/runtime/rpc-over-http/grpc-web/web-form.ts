import { type Readable, Transform, type TransformCallback } from "node:stream";
import { ServiceError } from "../../error/service-error.ts";
import {
  ACCEPT_ENCODING_HEADER,
  clientTimeoutOf,
  ENCODING_HEADER,
  TIMEOUT_HEADER,
} from "../../grpc/grpc-headers.ts";
import { OK_TRAILERS, statusTrailers } from "../../grpc/response-status.ts";
import type { CodecName } from "../../rpc/rpc-exchange.ts";
import { envelopeOf, flag } from "../../wire/envelope.ts";
import type { EnvelopedForm } from "../exchange/enveloped-exchange.ts";
import { sentMetadata } from "../exchange/http-exchange.ts";

/** The form of gRPC-Web messages: as in gRPC, with the trailers after them in the body. */
function webForm(codec: CodecName, isText: boolean): EnvelopedForm {
  return {
    transport: "grpc_web",
    contentType: `application/grpc-web${isText ? "-text" : ""}+${codec}`,
    encodingHeader: ENCODING_HEADER,
    acceptHeader: ACCEPT_ENCODING_HEADER,
    timeoutOf: (headers) => clientTimeoutOf(headers.all(TIMEOUT_HEADER)),
    last(error, trailers, domain) {
      let text = "";
      for (const [name, values] of sentMetadata(trailers)) {
        for (const value of values) text += `${name}: ${value}\r\n`;
      }
      const status = error === undefined ? OK_TRAILERS : statusTrailers(error, domain);
      for (const [name, value] of Object.entries(status)) text += `${name}: ${value}\r\n`;
      return envelopeOf(Buffer.from(text, "latin1"), flag.TRAILERS);
    },
    ...(isText ? { text: { encode: encodeBase64, decode: decodeBase64 } } : {}),
  };
}

/** By how the messages are encoded. */
export const WEB_FORMS: Readonly<Record<CodecName, EnvelopedForm>> = {
  proto: webForm("proto", false),
  json: webForm("json", false),
};

/** The same in base64. */
export const WEB_TEXT_FORM: EnvelopedForm = webForm("proto", true);

/** Whole groups of base64; a client may encode its messages one by one, each with its padding. */
const GROUPS = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*$/;
const GROUP = 4;
/** Ends with the padding, if there is one. */
const PART = /[^=]+=*/g;

/** A part of a base64 body, which may follow others. */
function encodeBase64(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("base64"), "latin1");
}

/**
 * Reads a body that is base64.
 *
 * @param onRefused called for invalid base64
 */
function decodeBase64(body: Readable, onRefused: (reason: ServiceError) => void): Readable {
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
