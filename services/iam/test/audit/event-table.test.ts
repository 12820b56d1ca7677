/** The tables of events in docs/iam.md have all that svc-iam records, and nothing else. */
import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const ROOT = new URL("../../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

/** The rows of the table of the audit whose first column has this head, a list of cells each. */
function tableOf(head: string): string[][] {
  const [, audit = ""] = read("docs/iam.md").split("\n## Audit\n");
  const lines = audit.split("\n");
  const begin = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const rows = lines.slice(begin + 2);
  const end = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, end).map((line) => line.split("|").slice(1, -1));
}

const namesIn = (text = "") => [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

describe("events outside of policies", () => {
  /** What looks as a name of an event in the source, and is none. A new name must be here or in the table. */
  const OTHERS = [
    // Events of `oidc-provider`.
    "authorization.success",
    "end_session.success",
    "grant.error",
    "grant.revoked",
    "grant.success",
    "introspection.error",
    "revocation.error",
    "device_authorization.error",
    // Files, and a field of a policy.
    "login.json",
    "service.yaml",
    "principal.organization_id",
  ];
  const literals = new Set<string>();
  for (const file of globSync("services/iam/src/**/*.ts", { cwd: ROOT })) {
    for (const [, , name = ""] of read(file).matchAll(/(["'`])([a-z_]+\.[a-z_]+)\1/g)) {
      // Columns of the database, and keys of the configuration.
      if (!/^iam[._]/.test(name)) literals.add(name);
    }
  }
  const documented = tableOf("event").flatMap(([event]) => namesIn(event));

  test("are all in the table", () => {
    expect(literals.size).toBeGreaterThan(40);
    const known = [...documented, ...OTHERS];
    expect([...literals].filter((name) => !known.includes(name))).toEqual([]);
  });

  test("are those of the table", () => {
    expect(documented.filter((name) => !literals.has(name))).toEqual([]);
  });

  test("have a risk, and say when", () => {
    for (const [event = "", risk = "", when = ""] of tableOf("event")) {
      expect([event, risk]).toEqual([
        event,
        expect.stringMatching(/^ (?:(?:LOW|MEDIUM|HIGH|CRITICAL)(?:, )?)+ $/),
      ]);
      expect(when.trim(), event).not.toBe("");
    }
  });
});

test("events of RPCs have a table, with their risks, that is the one of their policies", () => {
  interface Policy {
    readonly audit?: { readonly event: string; readonly riskLevel?: string };
  }
  const policies: Readonly<Record<string, Policy>> = JSON.parse(
    read("services/iam/gen/policies.json"),
  ).policies;
  const declared = Object.entries(policies).flatMap(([rpc, { audit }]) => {
    const service = rpc.split("/")[0]?.split(".").at(-1);
    return audit === undefined ? [] : [[service, audit.event, audit.riskLevel ?? "LOW"].join(" ")];
  });
  const documented = tableOf("service").flatMap(([service, events = ""]) =>
    [...events.matchAll(/`([^`]+)` ([A-Z]+)/g)].map(([, event, risk]) =>
      [namesIn(service)[0], event, risk].join(" "),
    ),
  );
  expect(declared.length).toBeGreaterThan(30);
  expect(documented.sort()).toEqual(declared.sort());
});
