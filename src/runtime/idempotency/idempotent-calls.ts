import { createHash } from "node:crypto";
import { type DescMethod, fromBinary, isMessage, type Message, toBinary } from "@bufbuild/protobuf";
import type { Call } from "../call/call.ts";
import type { InterceptedCall, Interceptor } from "../chain/interceptor.ts";
import { ServiceError } from "../error/service-error.ts";
import { toServiceError } from "../error/to-service-error.ts";
import { setCreationId } from "./creation-id.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";
import { mayHoldSecret, withoutSecrets } from "./secret-fields.ts";
import type { StoredKeys } from "./stored-keys.ts";

/** A response that is larger is not kept. */
const LARGEST_RESPONSE = 65_536;
/** For at least so long, others are refused while a call is under way; its handler may outlast it. */
const PATIENCE_MS = 60_000;
/** Of a repeated call that did nothing. */
const REPLAY_EVENT = { event: "call.replayed", riskLevel: "LOW" } as const;
/** Says that a response is that of an earlier call. */
const REPLAYED = "Idempotent-Replayed";

/** RPCs that do their work once for each `Idempotency-Key` of a caller. */
export class IdempotentCalls {
  readonly #store: StoredKeys;

  constructor(store: StoredKeys) {
    this.#store = store;
  }

  /** Runs around the handler, when the call is authorized. */
  readonly intercept: Interceptor = async (intercepted, next) => {
    const key = idempotencyKeyOf(intercepted.headers);
    // The calls that are intercepted are those of the chain.
    const call = intercepted as unknown as Call;
    const method = call.method.descriptor;
    if (key === undefined || method === undefined) return next();
    return this.#once(call, method, key, next);
  };

  async #once(
    call: Call,
    method: DescMethod,
    key: string,
    next: () => Promise<unknown>,
  ): Promise<unknown> {
    const keyHash = hashOf(...callerOf(call), call.rpc, key);
    const attempt = await this.#store.begin(
      keyHash,
      hashOf(toBinary(method.input, withoutSecrets(method.input, call.request as Message))),
      Math.max(PATIENCE_MS, Math.min(2 * PATIENCE_MS, call.deadline - Date.now())),
    );
    switch (attempt.outcome) {
      case "run":
        setCreationId(call, attempt.creationId);
        return this.#run(method, { keyHash, run: attempt.run }, next);
      case "done":
        // Its own event would say that the work was done twice.
        if (call.method.policy.audit !== undefined) await call.audit.record(REPLAY_EVENT);
        return replayed(call, method, attempt.response);
      case "other":
        throw new ServiceError(
          "INVALID_ARGUMENT",
          "this Idempotency-Key was used with another request: use a new key for each request",
        );
      case "busy":
        throw ServiceError.of(
          409,
          "CALL_IN_PROGRESS",
          "a call with this Idempotency-Key is under way: repeat it later",
          { grpcStatus: ABORTED, retryAfterSeconds: 1 },
        );
    }
  }

  async #run(
    method: DescMethod,
    { keyHash, run }: { readonly keyHash: string; readonly run: string },
    next: () => Promise<unknown>,
  ): Promise<unknown> {
    let response: unknown;
    try {
      response = await next();
    } catch (error) {
      const end = hasNoEffect(error) ? "refused" : "failed";
      // Where it cannot be stored, the next call waits until this one is given up.
      await this.#store[end](keyHash, run).catch(() => undefined);
      throw error;
    }
    // Where it cannot be stored, the response is sent all the same, since the work is done.
    await this.#store
      .succeeded(keyHash, run, keptResponse(method, response))
      .catch(() => undefined);
    return response;
  }
}

const ABORTED = 10;

/** Whether a handler that throws an error has changed nothing. */
function hasNoEffect(error: unknown): boolean {
  const { status } = toServiceError(error);
  return status < 500 && status !== 499;
}

/** Secrets are never stored. */
function keptResponse({ output }: DescMethod, response: unknown): Uint8Array | undefined {
  if (mayHoldSecret(output) || !isMessage(response, output)) return undefined;
  const bytes = toBinary(output, response);
  return bytes.length > LARGEST_RESPONSE ? undefined : bytes;
}

function replayed(
  call: InterceptedCall,
  { output }: DescMethod,
  response: Uint8Array | undefined,
): Message {
  if (response === undefined) {
    throw new ServiceError(
      "FAILED_PRECONDITION",
      "a call with this Idempotency-Key has succeeded, and its response was not kept, since it is large or may have a secret",
    );
  }
  call.setResponseHeader(REPLAYED, "true");
  return fromBinary(output, response);
}

/** Keys of different callers are different, whatever they are. */
function callerOf({ principal }: InterceptedCall): readonly string[] {
  // In development, without authentication.
  if (principal === undefined) return [];
  const { subjectType, subjectId, organizationId, source } = principal;
  return [source === "internal" ? source : "", subjectType, subjectId, organizationId];
}

function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  // With their lengths, so that no other parts give the same bytes.
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest("base64url");
}
