import { AuthzError } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";

/** The codes of the engine that other services would not get from the runtime, with their gRPC status. */
const OWN_CODES: Readonly<Partial<Record<string, { http: number; grpc: number }>>> = {
  OUT_OF_RANGE: { http: 400, grpc: 11 },
  RESOURCE_EXHAUSTED: { http: 503, grpc: 8 },
};

/** What callers must not read: it may name addresses of the store. */
const HIDDEN: ReadonlySet<string> = new Set(["INTERNAL", "UNAVAILABLE"]);

/**
 * Does what the engine is asked for. Its refusals keep their code, so that a service that asks over
 * gRPC gets the error that an engine of its own would give.
 */
export async function askEngine<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw refusalOf(error);
  }
}

/** The same of an engine that has its decision at once. */
export function askEngineNow<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw refusalOf(error);
  }
}

/** What engines call a page token. */
const CURSOR = /^the cursor /;

/** The error for the caller; what the runtime itself reports the same is left to it. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof AuthzError)) return error;
  if (error.code === "INVALID_ARGUMENT" && CURSOR.test(error.message)) {
    const problem = error.message.replace(CURSOR, "page_token ");
    const message = `${problem}: list again from the first page`;
    return new ServiceError("INVALID_ARGUMENT", message, { cause: error });
  }
  const own = OWN_CODES[error.code];
  if (own === undefined) return error;
  const options = { cause: error, grpcStatus: own.grpc };
  return ServiceError.of(own.http, error.code, error.message, options);
}

/** The error of one check of many. */
export function checkErrorMessage(error: Error) {
  const code = error instanceof AuthzError ? error.code : "INTERNAL";
  return { code, message: HIDDEN.has(code) ? "no decision was made" : error.message };
}
