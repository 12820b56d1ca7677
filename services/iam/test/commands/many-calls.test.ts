/** Commands of many calls, which come faster than the server takes them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { ServiceError } from "svc-access/runtime";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { RelationshipSchema } from "../../gen/svc/iam/v1/relationship_pb.ts";
import { queryEvents } from "../../src/commands/audit/audit-events.ts";
import { exportRelationships } from "../../src/commands/permissions/export.ts";
import { importRelationships } from "../../src/commands/permissions/import.ts";
import { listRelationships } from "../../src/commands/permissions/relationships.ts";
import { withinRate } from "../../src/commands/run/within-rate.ts";
import { runWith } from "./stub-calls.ts";

afterEach(() => vi.useRealTimers());

const RELATIONSHIP = create(RelationshipSchema, {
  resource: { type: "zone", id: "acme" },
  relation: "owner",
  subject: { type: "service", id: "one" },
});

/** Refuses every second call, the first one too. */
function limited(answer: (call: number) => unknown): () => Promise<unknown> {
  let calls = 0;
  return async () => {
    if (calls++ % 2 === 1) return answer(calls / 2);
    throw new ServiceError("RATE_LIMITED", undefined, { retryAfterSeconds: 0 });
  };
}

const page = (number: number) => ({
  relationships: [RELATIONSHIP],
  events: [{ type: "iam.user.create" }],
  nextPageToken: number < 3 ? "more" : "",
});

const COMMANDS: readonly [string, string, (file: string) => Promise<number>][] = [
  ["audit query", "listAuditEvents", () => queryEvents({ format: "json", limit: 1000 })],
  [
    "relationship list",
    "listRelationships",
    () => listRelationships({ format: "json", limit: 10_000, resource: "zone" }),
  ],
  [
    "relationship export",
    "listRelationships",
    () => exportRelationships({ format: "json", resource: ["zone"] }),
  ],
  [
    "relationship import",
    "writeRelationships",
    (file) => importRelationships(file, { format: "json" }),
  ],
];

test.each(COMMANDS)(
  "svc-iam %s repeats calls that come too fast [CMD-2]",
  async (_, method, command) => {
    const folder = mkdtempSync(join(tmpdir(), "svc-iam-import-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "relationships.txt");
    writeFileSync(file, "zone:acme#owner@service:one\n".repeat(2500));
    const call = vi.fn(limited(page));
    const { status, stdout } = await runWith({ [method]: call }, () => command(file));
    expect(status).toBe(0);
    expect(call).toHaveBeenCalledTimes(6);
    expect(stdout).toMatch(/iam\.user\.create|zone|2500/);
  },
);

describe("a call that is refused", () => {
  test("is repeated after the time that the server names", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const refused = new ServiceError("RATE_LIMITED", undefined, { retryAfterSeconds: 2 });
    const call = vi.fn(async () => "done").mockRejectedValueOnce(refused);
    const result = withinRate(call);
    await vi.advanceTimersByTimeAsync(1999);
    expect(call).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toBe("done");
  });

  test.each([
    ["without a time", new ServiceError("RATE_LIMITED")],
    ["for minutes", new ServiceError("RATE_LIMITED", undefined, { retryAfterSeconds: 900 })],
    ["for another reason", new ServiceError("UNAVAILABLE", undefined, { retryAfterSeconds: 0 })],
  ])("%s is not repeated", async (_, error) => {
    const call = vi.fn(() => Promise.reject(error));
    await expect(withinRate(call)).rejects.toBe(error);
    expect(call).toHaveBeenCalledOnce();
  });

  test("again and again is not repeated for ever", async () => {
    const error = new ServiceError("RATE_LIMITED", undefined, { retryAfterSeconds: 0 });
    const call = vi.fn(() => Promise.reject(error));
    await expect(withinRate(call)).rejects.toBe(error);
    expect(call).toHaveBeenCalledTimes(21);
  });
});
