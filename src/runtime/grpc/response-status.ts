import { toUSVString } from "node:util";
import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { ServiceError } from "../error/service-error.ts";
import {
  encodeStatusDetails,
  MAX_MESSAGE_CHARACTERS,
  STATUS_DETAILS_HEADER,
} from "./status-details.ts";

/** Trailers are headers, and clients bound those: 8 KiB is the usual limit of all of them. */
const MAX_DETAILS_BYTES = 4096;

/** The status of a call that failed. Of INTERNAL nothing is told, whoever threw it. */
export function statusOf(thrown: ServiceError, domain: string): StatusObject {
  const error = thrown.code === "INTERNAL" ? new ServiceError("INTERNAL") : thrown;
  const metadata = new Metadata();
  const details = encodeStatusDetails(error, domain, MAX_DETAILS_BYTES);
  metadata.set(STATUS_DETAILS_HEADER, Buffer.from(details));
  if (error.retryAfterSeconds !== undefined) {
    metadata.set("retry-after", String(Math.ceil(error.retryAfterSeconds)));
  }
  return {
    code: error.grpcStatus,
    // Half a surrogate pair would make encodeURI throw.
    details: toUSVString(error.message.slice(0, MAX_MESSAGE_CHARACTERS)),
    metadata,
  };
}
