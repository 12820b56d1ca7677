/** The calls of the engine `iam` when its certificates are renewed. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PermissionCalls } from "../../../../src/authz/iam/permission-calls.ts";
import { SILENT } from "../../../../src/common/logger.ts";
import { renewedCalls } from "../../../../src/runtime/server/renewed-calls.ts";

const LOOK_MS = 5000;
const KEEP_MS = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start() {
  const state = { content: "first", problem: "" };
  const opened: string[] = [];
  const closed: string[] = [];
  const logged: string[] = [];
  const log = (_: object, text: string) => void logged.push(text);
  const calls = renewedCalls({
    read: () => {
      if (state.problem !== "") throw new TypeError(state.problem);
      return { ca: state.content };
    },
    open: ({ ca }) => {
      opened.push(ca);
      const client = {
        getModel: async () => ({ model: ca }),
        close: async () => void closed.push(ca),
      };
      return client as unknown as PermissionCalls;
    },
    logger: { ...SILENT, info: log, error: log },
  });
  const used = async () => (await calls.getModel({}, {})).model;
  return { state, opened, closed, logged, calls, used };
}

describe("certificates of the engine iam", () => {
  test("that cannot be used at the start are an error", () => {
    const read = () => {
      throw new TypeError("ca_file cannot be read");
    };
    const open = () => expect.unreachable();
    expect(() => renewedCalls({ read, open, logger: SILENT })).toThrow("ca_file cannot be read");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that stay as they are keep their client", async () => {
    const { opened, closed, calls } = start();
    vi.advanceTimersByTime(10 * LOOK_MS);
    expect([opened, closed]).toEqual([["first"], []]);
    await calls.close();
    expect(closed).toEqual(["first"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that are renewed are used by the next call; calls under way have a minute", async () => {
    const { state, closed, calls, used } = start();
    state.content = "second";
    expect(await used()).toBe("first");
    vi.advanceTimersByTime(LOOK_MS);
    expect([await used(), closed]).toEqual(["second", []]);
    vi.advanceTimersByTime(KEEP_MS);
    expect(closed).toEqual(["first"]);
    state.content = "third";
    vi.advanceTimersByTime(LOOK_MS);
    await calls.close();
    expect(closed.sort()).toEqual(["first", "second", "third"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that cannot be used leave the previous ones, and are reported once", async () => {
    const { state, logged, calls, used } = start();
    state.problem = "key_file does not match certificate_file";
    vi.advanceTimersByTime(3 * LOOK_MS);
    expect(await used()).toBe("first");
    expect(logged).toEqual([
      "security.authz.iam: key_file does not match certificate_file; the previous certificates are used",
    ]);
    Object.assign(state, { problem: "", content: "second" });
    vi.advanceTimersByTime(LOOK_MS);
    expect(await used()).toBe("second");
    await calls.close();
  });
});
