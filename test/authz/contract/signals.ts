import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import type { CallOptions } from "../../../src/authz/engine/requests.ts";
import { failure } from "./calls.ts";
import { request, updates } from "./schema.ts";
import type { Opened } from "./target.ts";

const asked = request("document:s-a#view@user:s-x");
const filter = { resourceType: "document", resourceId: "s-a" };

/** Cancelled callers, deadlines, and the end of the engine. */
export function signalsContract(opened: Opened): void {
  const calls = (
    engine: AuthorizationEngine,
    options: CallOptions,
  ): Record<string, Promise<unknown>> => ({
    check: engine.check(asked, options),
    checkAny: engine.checkAny({ ...asked, resourceType: "document" }, options),
    checkBulk: engine.checkBulk([asked], options),
    emptyBulk: engine.checkBulk([], options),
    explain: engine.explain(asked, options),
    lookupResources: engine.lookupResources({ ...asked, resourceType: "document" }, options),
    lookupSubjects: engine.lookupSubjects({ ...asked, subjectType: "user" }, options),
    readRelationships: engine.readRelationships(filter, {}, options),
    readAll: engine.readRelationships({}, {}, options),
    write: engine.writeRelationships(
      { updates: updates("TOUCH", "document:s-a#viewer@user:s-x") },
      options,
    ),
    watch: engine.watch(undefined, options)[Symbol.asyncIterator]().next(),
  });
  const expectAll = async (
    engine: AuthorizationEngine,
    options: CallOptions,
    expected: { code: string; message: RegExp },
  ) => {
    for (const [name, call] of Object.entries(calls(engine, options))) {
      expect(await failure(call), name).toMatchObject({
        name: "AuthzError",
        code: expected.code,
        message: expect.stringMatching(expected.message),
      });
    }
  };

  describe("a call", () => {
    test("whose caller has cancelled is CANCELLED, and does nothing", async () => {
      const { engine } = opened();
      const expected = { code: "CANCELLED", message: /was cancelled/ };
      await expectAll(engine, { signal: AbortSignal.abort() }, expected);
      expect((await engine.readRelationships(filter)).items).toEqual([]);
    });

    test("whose deadline has passed is DEADLINE_EXCEEDED", async () => {
      const signal = AbortSignal.abort(new DOMException("late", "TimeoutError"));
      const expected = { code: "DEADLINE_EXCEEDED", message: /deadline has passed/ };
      await expectAll(opened().engine, { signal }, expected);
    });

    test("leaves no listener on the signal of its caller", async () => {
      const { engine } = opened();
      const { signal } = new AbortController();
      let listeners = 0;
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        listeners++;
        add(...args);
      };
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listeners--;
        remove(...args);
      };
      for (let count = 0; count < 20; count++) await engine.check(asked, { signal });
      expect(listeners).toBe(0);
    });
  });

  describe("an engine that is closed", () => {
    let engine: AuthorizationEngine;
    beforeAll(async () => {
      engine = await opened().openOther();
    });
    afterAll(() => engine?.close());

    test("is UNAVAILABLE, also in ready(), and can be closed again", async () => {
      expect(await engine.ready()).toEqual({ ready: true });
      const watching = failure(engine.watch()[Symbol.asyncIterator]().next());
      await engine.close();
      await engine.close();
      await watching;
      expect(await engine.ready()).toEqual({ ready: false, reason: "the engine is closed" });
      await expectAll(engine, {}, { code: "UNAVAILABLE", message: /engine is closed/ });
    });
  });
}
