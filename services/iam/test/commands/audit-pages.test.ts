/** `svc-iam audit query` of many pages: each is printed when it is there. */
import { ServiceError } from "svc-access/runtime";
import { expect, test } from "vitest";
import { followEvents, queryEvents } from "../../src/commands/audit/audit-events.ts";
import { type Answers, runWith } from "./stub-calls.ts";

const eventOf = (type: string) => ({ type, time: "2026-11-24T10:00:00Z", data: {} });

/** Two pages, then an error. */
function pages(error: Error): Answers {
  const answers = [
    { events: [eventOf("short"), eventOf("short")], nextPageToken: "1" },
    { events: [eventOf("quite.a.long.one")], nextPageToken: "2" },
  ];
  return {
    async listAuditEvents({ pageToken }) {
      const page = answers[Number(pageToken)];
      if (page === undefined) throw error;
      return page;
    },
  };
}

test("the events before a page that fails are printed, as JSON or as one table [CMD-5]", async () => {
  const failed = new ServiceError("UNAVAILABLE");
  const query = (format: "json" | "text") =>
    runWith(pages(failed), () => queryEvents({ limit: 1000, format })).catch((error) => error);
  const json = await query("json");
  expect(json).toBe(failed);
  const types = json.stdout.split("\n").filter((line: string) => line !== "");
  expect(types.map((line: string) => JSON.parse(line).type)).toEqual([
    "short",
    "short",
    "quite.a.long.one",
  ]);
  const { stdout } = await query("text");
  const lines = stdout.split("\n");
  expect(lines).toHaveLength(5);
  expect(lines[0]).toMatch(/^TIME .* REASON$/);
  expect(lines[1].indexOf("short")).toBe(lines[0].indexOf("EVENT"));
  expect(lines[3]).toMatch(/^2026\S+ .* quite\.a\.long\.one +- /);
});

test("a limit that leaves events out is said after several pages, too [CMD-5]", async () => {
  const answers: Answers = {
    listAuditEvents: async ({ pageSize, pageToken }) => ({
      events: Array.from({ length: Math.min(pageSize, 500) }, () => eventOf("one")),
      nextPageToken: `${pageToken}x`,
    }),
  };
  const { status, stdout, stderr } = await runWith(answers, () =>
    queryEvents({ limit: 700, format: "json" }),
  );
  expect([status, stderr]).toEqual([0, "svc-iam: the newest 700 events; --limit shows more\n"]);
  expect(stdout.split("\n")).toHaveLength(701);
});

test("a stream that ends before its first event is continued from its start [CMD-5]", async () => {
  const failed = new ServiceError("UNAVAILABLE");
  const follow = async (format: "json" | "text") => {
    const queries: unknown[] = [];
    const answers = {
      async *followAuditEvents({ position, positionOfStart }: Record<string, unknown>) {
        queries.push([position, positionOfStart]);
        if (queries.length === 3) throw failed;
        if (positionOfStart) yield { position: "p0" };
        if (queries.length === 1) throw new ServiceError("DEADLINE_EXCEEDED");
      },
    } as unknown as Answers;
    const ended = await runWith(answers, () => followEvents({ format })).catch((error) => error);
    expect(queries).toEqual([
      ["", true],
      ["p0", false],
      ["p0", false],
    ]);
    expect(ended).toMatchObject({ code: "UNAVAILABLE", stdout: "" });
    return ended.stderr;
  };
  const start = "svc-iam: --position p0 continues after the start\n";
  expect([await follow("text"), await follow("json")]).toEqual([start, start]);
});

test("what ends following says from where it continues [CMD-5]", async () => {
  const failed = new ServiceError("UNAVAILABLE");
  const answers = {
    async *followAuditEvents() {
      yield { event: eventOf("one"), position: "p1" };
      throw failed;
    },
  } as unknown as Answers;
  const follow = (format: "json" | "text") =>
    runWith(answers, () => followEvents({ format })).catch((error) => error);
  expect(await follow("text")).toMatchObject({
    code: "UNAVAILABLE",
    stderr: "svc-iam: --position p1 continues after the last event\n",
  });
  expect(await follow("json")).toMatchObject({
    stdout: expect.stringContaining('"p1"'),
    stderr: "",
  });
});
