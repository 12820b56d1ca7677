import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Administration, administration, STORED, text } from "./administration.ts";

let service: Administration;
beforeAll(async () => {
  service = await administration(...STORED);
});
afterAll(() => service[Symbol.asyncDispose]());

const SITE = { resource: { type: "project", id: "site" }, permission: "read" };
const about = (id: string, type = "user") => ({ subject: { type, id } });
const RPCS = ["checkPermission", "explainPermission"] as const;

describe.each(RPCS)("%s", (rpc) => {
  const ask = async (query: object, user: string) => {
    const { code, body } = await service.call(rpc, { ...SITE, ...query }, user);
    return code === "OK" ? body.allowed : code;
  };

  test.each([
    ["itself, who holds it", "ed", {}, true],
    ["itself, by name", "ed", about("ed"), true],
    ["itself, who holds nothing", "x", {}, false],
    ["somebody else", "ed", about("site-owner"), "FORBIDDEN"],
    ["a set that it is in", "ed", about("eng", "group#member"), "FORBIDDEN"],
    ["a service of the same id", "ed", about("ed", "service"), "FORBIDDEN"],
    ["somebody, as an admin", "site-admin", about("ed"), true],
    ["a set, as an admin", "site-admin", about("eng", "group#member"), true],
    ["a service, as an admin", "site-admin", about("ed", "service"), false],
    ["an unknown type, as an admin", "site-admin", about("x", "robot"), "INVALID_ARGUMENT"],
    ["everybody, as an admin", "site-admin", about("*"), "INVALID_ARGUMENT"],
    ["an empty id, as an admin", "site-admin", about(""), "INVALID_ARGUMENT"],
  ])("about %s: %s asks %j", async (_, user, query, expected) => {
    expect(await ask(query, user)).toBe(expected);
  });

  test.each([
    ["zone", "acme"],
    ["group", "eng"],
  ])("about somebody else on a %s needs view_permissions", async (type, id) => {
    const query = { resource: { type, id }, permission: "owner", ...about("x") };
    expect(await ask(query, "padmin")).toBe(false);
    expect(await ask(query, "ed")).toBe("FORBIDDEN");
  });

  test.each([
    ["no resource", { resource: undefined }],
    ["an unknown permission", { permission: "fly" }],
    ["an unknown type", { resource: { type: "thing", id: "site" } }],
    ["a token that is not one", { consistency: { atLeastAsFresh: "nonsense" } }],
  ])("refuses %s", async (_, query) => {
    expect(await ask(query, "ed")).toBe("INVALID_ARGUMENT");
  });

  test("answers at the newest state", async () => {
    expect(await ask({ consistency: { fullyConsistent: true } }, "ed")).toBe(true);
  });
});

describe("an explanation [IAM-11]", () => {
  const explain = async (query: object, user: string) =>
    (await service.call("explainPermission", { ...SITE, ...query }, user)).body;
  const deciding = (steps: any[]) =>
    steps.flatMap(({ relationship }) => (relationship ? [text(relationship)] : []));

  test("shows the path, and nothing below what the caller may not see", async () => {
    const body = await explain(about("mole"), "site-admin");
    expect(body.allowed).toBe(true);
    expect(body.steps.at(-1)).toMatchObject({
      resource: { type: "group", id: "secret" },
      permission: "member",
      allowed: true,
      kind: "",
      notShown: "group:secret (members not shown)",
    });
    expect(JSON.stringify(body)).not.toContain("mole");
    expect(deciding(body.steps)).toEqual(["project:site#viewer@group:secret#member"]);
  });

  test("of a denial shows what was tried, and is cut likewise", async () => {
    const { allowed, steps } = await explain(about("nobody"), "site-admin");
    expect(allowed).toBe(false);
    const cut = steps.filter(({ notShown }: any) => notShown !== "");
    expect(new Set(cut.map(({ notShown }: any) => notShown))).toEqual(
      new Set([
        "group:eng (members not shown)",
        "group:secret (members not shown)",
        "organization:one (relationships not shown)",
      ]),
    );
    const cutIndexes = new Set(cut.map((step: any) => steps.indexOf(step)));
    expect(steps.slice(1).some(({ parent }: any) => cutIndexes.has(parent))).toBe(false);
  });

  test("of oneself shows nothing of a resource that one may not see", async () => {
    const { allowed, steps } = await explain({}, "ed");
    expect(allowed).toBe(true);
    expect(steps).toEqual([
      {
        parent: 0,
        ...SITE,
        allowed: true,
        kind: "",
        notShown: "project:site (relationships not shown)",
      },
    ]);
  });

  test("shows the whole path to whoever may see all of it", async () => {
    await service.store("group:eng#permission_admin@user:site-admin");
    const { steps } = await explain(about("ed"), "site-admin");
    expect(deciding(steps)).toEqual([
      "project:site#developer@group:eng#member",
      "group:eng#member@user:ed",
    ]);
    for (const [index, { parent }] of steps.entries()) expect(parent).toBeLessThanOrEqual(index);
    await service.store("-group:eng#permission_admin@user:site-admin");
  });
});
