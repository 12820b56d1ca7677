import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { AS, type Caller, fullName, type Headers, type Json } from "./caller.ts";

/** The next page token of a last page. */
export const LAST = { nextPageToken: "" };

/** Calls with an expected outcome. */
export class Scene {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Makes a call that must succeed. @returns all its responses */
  async all(rpc: string, request: Json, headers: Headers = AS.alice): Promise<readonly Json[]> {
    const call = () => this.#caller.call(fullName(rpc), request, headers);
    let answer = await call();
    // On a fast machine the scenario exceeds the rate limits of the hub.
    for (let waits = 0; answer.error === "rate limited" && waits < 3; waits++) {
      await sleep(1000);
      answer = await call();
    }
    const { code, error, messages } = answer;
    expect({ rpc, code, error }).toEqual({ rpc, code: "ok", error: "" });
    return messages;
  }

  /** Makes a call that must succeed with one response. */
  async one(rpc: string, request: Json, headers: Headers = AS.alice): Promise<Json> {
    const messages = await this.all(rpc, request, headers);
    expect(messages).toHaveLength(1);
    return messages[0];
  }

  /** Makes a call that must be refused with this code. */
  async refused(rpc: string, request: Json, headers: Headers, code: string): Promise<string> {
    const answer = await this.#caller.call(fullName(rpc), request, headers);
    expect({ rpc, code: answer.code }).toEqual({ rpc, code });
    return answer.error;
  }
}
