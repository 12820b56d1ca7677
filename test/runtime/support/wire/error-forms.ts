import type { Wire } from "./protocols.ts";
import type { WireAnswer } from "./read-response.ts";

/** The gRPC codes by number, with their names in Connect and their HTTP statuses (connectrpc.com/docs/protocol, "Error codes"). */
const CONNECT: readonly (readonly [code: string, httpStatus: number])[] = [
  ["ok", 200],
  ["canceled", 499],
  ["unknown", 500],
  ["invalid_argument", 400],
  ["deadline_exceeded", 504],
  ["not_found", 404],
  ["already_exists", 409],
  ["permission_denied", 403],
  ["resource_exhausted", 429],
  ["failed_precondition", 400],
  ["aborted", 409],
  ["out_of_range", 400],
  ["unimplemented", 501],
  ["internal", 500],
  ["unavailable", 503],
  ["data_loss", 500],
  ["unauthenticated", 401],
];

/** Connect's name of a gRPC code. */
export function connectCode(grpcStatus: number): string {
  return (CONNECT[grpcStatus] as (typeof CONNECT)[number])[0];
}

/** The form of an error with two statuses in a protocol: its code there, and the HTTP status. */
export function errorForm(
  { form }: Wire,
  isStreaming: boolean,
  { http, grpc }: { readonly http: number; readonly grpc: number },
): Pick<WireAnswer, "code" | "httpStatus"> {
  switch (form) {
    case "route":
      return { code: String(http), httpStatus: http };
    case "connect":
    case "connect_get": {
      const [code, httpStatus] = CONNECT[grpc] as (typeof CONNECT)[number];
      return { code, httpStatus: isStreaming ? 200 : httpStatus };
    }
    default:
      return { code: String(grpc), httpStatus: 200 };
  }
}
