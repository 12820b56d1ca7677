import { setTimeout as delay } from "node:timers/promises";
import { type ProcessLogger, ServiceError } from "svc-access/runtime";
import type * as z from "zod";
import { QueueFullError, WorkQueue } from "../../ground/queue/work-queue.ts";
import { boundedFetch, type ProviderFetch, ResponseTooLargeError } from "../oidc/bounded-fetch.ts";
import { CasdoorResponseError, readEnvelope } from "./casdoor-envelope.ts";

/** The client that this service is at the management API of Casdoor. */
export interface CasdoorApiOptions {
  /** Where Casdoor answers: an http or https URL, also below a path. */
  readonly endpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly logger: Pick<ProcessLogger, "error">;
  readonly fetch?: ProviderFetch;
  /** How long a request may take; 2 seconds if absent, so that a call has time for a second one. */
  readonly timeoutMs?: number;
  /** Waits before a read is repeated; for tests. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** What a read returned. */
export interface CasdoorData<Data> {
  readonly data: Data;
  /** How many records there are without paging (`data2`); undefined where Casdoor does not say. */
  readonly total: number | undefined;
}

/** A user of Casdoor has about 250 fields; a page of 100 such users has less than this. */
const LARGEST_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 2000;
const AT_ONCE = 8;
const MAY_WAIT = 256;
const ATTEMPTS = 2;
const PAUSE_MS = 100;

/**
 * The management API of Casdoor (https://casdoor.org/docs/basic/public-api), called as an application
 * with HTTP Basic. Responses are untrusted: they are bounded in time and size, and checked against a
 * schema. A few requests run at once. Reads are repeated once, writes never.
 */
export class CasdoorApi {
  readonly #options: CasdoorApiOptions;
  readonly #fetch: ProviderFetch;
  readonly #queue = new WorkQueue(AT_ONCE, MAY_WAIT);
  readonly #authorization: string;

  constructor(options: CasdoorApiOptions) {
    this.#options = options;
    const { clientId, clientSecret, fetch, timeoutMs = TIMEOUT_MS } = options;
    this.#fetch = boundedFetch(fetch, { largestBytes: LARGEST_BYTES, timeoutMs });
    // Casdoor takes both as they are, without the form encoding of OAuth.
    const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
    this.#authorization = `Basic ${credentials}`;
  }

  /**
   * Reads by a GET.
   *
   * @param operation the last part of the path, such as `get-users`
   * @param check refuses data by a CasdoorResponseError, and returns what is made of it
   * @throws ServiceError UNAVAILABLE where Casdoor does not answer, or answers what is not valid
   */
  async read<Data, Result = CasdoorData<Data>>(
    operation: string,
    query: Readonly<Record<string, string>>,
    schema: z.ZodType<Data>,
    signal: AbortSignal,
    check: (read: CasdoorData<Data>) => Result = (read) => read as Result,
  ): Promise<Result> {
    const path = `${operation}?${new URLSearchParams(query)}`;
    return this.#explained(operation, signal, async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          const { data, total } = await this.#send(path, { method: "GET" }, signal);
          return check({ data: checkedData(schema, data), total });
        } catch (error) {
          if (attempt === ATTEMPTS || signal.aborted || !mayPass(error)) throw error;
          await (this.#options.pause ?? pause)(PAUSE_MS, signal);
        }
      }
    });
  }

  /**
   * Changes by a POST, which is not repeated.
   *
   * @throws ServiceError UNAVAILABLE, also where it is not known whether the change was made
   */
  async write(operation: string, body: object, signal: AbortSignal): Promise<void> {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", body: JSON.stringify(body), headers };
    await this.#explained(operation, signal, () => this.#send(operation, init, signal));
  }

  #send(path: string, { headers, ...init }: RequestInit, signal: AbortSignal) {
    const url = `${this.#options.endpoint.replace(/\/+$/, "")}/api/${path}`;
    return this.#queue.run(async () => {
      const response = await this.#fetch(url, {
        ...init,
        headers: { ...headers, accept: "application/json", authorization: this.#authorization },
        signal,
      });
      return readEnvelope(response);
    }, signal);
  }

  async #explained<Result>(
    operation: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof QueueFullError) {
        throw new ServiceError("UNAVAILABLE", "too many requests wait for the identity provider", {
          cause: error,
          retryAfterSeconds: 1,
        });
      }
      this.#options.logger.error(
        { error, operation },
        "the management API of Casdoor does not work",
      );
      throw new ServiceError("UNAVAILABLE", "the identity provider does not answer", {
        cause: error,
      });
    }
  }
}

function checkedData<Data>(schema: z.ZodType<Data>, data: unknown): Data {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0] ?? { path: [], message: "not valid" };
  throw new CasdoorResponseError(`${["data", ...path].map(String).join(".")}: ${message}`, false);
}

/** Whether a repetition may get another response. */
function mayPass(error: unknown): boolean {
  if (error instanceof QueueFullError || error instanceof ResponseTooLargeError) return false;
  return !(error instanceof CasdoorResponseError) || error.mayPass;
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds * (1 + Math.random()), undefined, { signal });
}
