import { clientTimeoutOf, TIMEOUT_HEADER } from "../grpc/grpc-timeout.ts";
import { ACCEPT_ENCODING_HEADER, ENCODING_HEADER } from "../grpc/response-headers.ts";
import { OK_TRAILERS, statusTrailers } from "../grpc/response-status.ts";
import type { CodecName } from "../rpc/rpc-exchange.ts";
import type { EnvelopedForm } from "../rpc-over-http/enveloped-exchange.ts";
import { sentMetadata } from "../rpc-over-http/response-metadata.ts";
import { envelopeOf, flag } from "../wire/envelope.ts";
import { decodeBase64, encodeBase64 } from "./base64-body.ts";

/** How gRPC-Web has messages: as gRPC, with the trailers behind them in the body. */
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
