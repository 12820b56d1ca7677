import * as z from "zod/mini";
import type { BoundMethod } from "../../../src/runtime/binding/bound-method.ts";
import type { Call, CallStart } from "../../../src/runtime/call/call.ts";
import {
  type ServiceConfig,
  serviceConfigSchema,
} from "../../../src/runtime/configuration/service-config.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { NO_EVENTS, type RuntimeEvents } from "../../../src/runtime/events/runtime-events.ts";
import type { Peer } from "../../../src/runtime/peer/peer.ts";
import { boundMethod, newCall, sentHeaders } from "../support/call.ts";

export { sentHeaders as headersOf };

/** Headers as sent: a name may occur several times. */
export type SentHeaders = readonly (readonly [name: string, value: string])[];
export type Exposure = BoundMethod["policy"]["exposure"];

export const GATEWAY: Peer = { address: "10.1.2.3", certificateNames: [] };
export const STRANGER: Peer = { address: "203.0.113.9", certificateNames: [] };

export interface TestCall {
  readonly exposure?: Exposure;
  readonly headers?: SentHeaders;
  readonly peer?: Peer;
  readonly httpMethod?: string;
  readonly isWrite?: boolean;
  readonly transport?: CallStart["transport"];
}

export function callOf(test: TestCall = {}): Call {
  const method = boundMethod({
    policy: { exposure: test.exposure ?? "AUTHENTICATED", publish: false },
    isWrite: test.isWrite ?? false,
  });
  return newCall({
    method,
    transport: test.transport ?? "http",
    headers: sentHeaders(test.headers ?? []),
    peer: test.peer ?? GATEWAY,
    httpMethod: test.httpMethod ?? "GET",
  });
}

/** A configuration with the given parts of `security.authn`. */
export function configOf(
  authn: Record<string, unknown>,
  rest: Record<string, unknown> = {},
): ServiceConfig {
  return z.parse(serviceConfigSchema, {
    service: "test",
    environment: "staging",
    server: { http: { address: "127.0.0.1:0" } },
    security: { authn },
    ...rest,
  });
}

export const INTERNAL_TOKEN = "internal-token-0123456789";
export const SYSTEM_TOKEN = "system-token-0123456789";

/** What the caller gets of an error, in one line; `passed` without an error. */
export async function outcomeOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return "passed";
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${error.status} ${error.code}: ${error.message}`;
  }
}

/** Records the events of the runtime, as `name argument…`. */
export function recordEvents(): { events: RuntimeEvents; reported: string[] } {
  const reported: string[] = [];
  const events = { ...NO_EVENTS };
  for (const name of Object.keys(NO_EVENTS) as (keyof RuntimeEvents)[]) {
    // The announcements of counters at the start are not events.
    if (name === "expect") continue;
    events[name] = (...rest: string[]) => void reported.push([name, ...rest].join(" "));
  }
  return { events, reported };
}

/** A log that records its warnings. */
export function recordLog() {
  const warnings: object[] = [];
  const none = () => undefined;
  return {
    warnings,
    logger: {
      debug: none,
      info: none,
      warn: (fields: object) => void warnings.push(fields),
      error: none,
    },
  };
}
