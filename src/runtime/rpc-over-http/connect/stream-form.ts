import { retryAfter } from "../../error/service-error.ts";
import type { CodecName } from "../../rpc/rpc-exchange.ts";
import { envelopeOf, flag } from "../../wire/envelope.ts";
import type { EnvelopedForm } from "../exchange/enveloped-exchange.ts";
import { sentMetadata } from "../exchange/http-exchange.ts";
import { connectError, connectTimeoutOf } from "./connect-error.ts";

/** The form of streams in Connect. */
function streamForm(codec: CodecName): EnvelopedForm {
  return {
    transport: "connect",
    contentType: `application/connect+${codec}`,
    encodingHeader: "connect-content-encoding",
    acceptHeader: "connect-accept-encoding",
    timeoutOf: connectTimeoutOf,
    last(error, trailers, domain) {
      const metadata: Record<string, readonly string[]> = {};
      for (const [name, values] of sentMetadata(trailers)) metadata[name] = values;
      const seconds = error && retryAfter(error);
      if (seconds !== undefined) metadata["retry-after"] = [seconds];
      const end = { ...(error && { error: connectError(error, domain) }), metadata };
      return envelopeOf(Buffer.from(JSON.stringify(end)), flag.END_STREAM);
    },
  };
}

/** By how the messages are encoded. */
export const STREAM_FORMS: Readonly<Record<CodecName, EnvelopedForm>> = {
  proto: streamForm("proto"),
  json: streamForm("json"),
};
