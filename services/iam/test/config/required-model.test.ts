import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseModel } from "svc-access/authz";
import type { ConfigurationError } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { loadIamConfig, loadMigrationConfig } from "../../src/config/load-iam-config.ts";
import { missingOfModel, REQUIRED_MODEL } from "../../src/config/required-model.ts";

const IAM = readFileSync(new URL("../../../../model/iam.zed", import.meta.url), "utf8");
const CLIENT = "4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-iam-model-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const FOLDER = Symbol("a folder instead of a model");

/** What both ways to load a configuration report for a model. */
function problemsOf(model: string | typeof FOLDER | undefined): readonly string[] {
  const path = join(folder, "model.zed");
  rmSync(path, { force: true, recursive: true });
  if (typeof model === "string") writeFileSync(path, model);
  else if (model === FOLDER) mkdirSync(path);
  const file = join(folder, "service.yaml");
  const document = {
    environment: "development",
    service: "iam",
    server: { http: { address: "127.0.0.1:0" } },
    security: {
      authn: {
        mode: "hybrid",
        provider: "embedded",
        oidc: { issuer: "http://localhost:18080/v1/iam/oidc", audience: [CLIENT] },
        gateway: { trusted_peers: ["127.0.0.1"] },
      },
      authz: { provider: "embedded", model: "model.zed" },
    },
    database: { driver: "sqlite", file: "iam.db" },
    iam: {
      organization: "acme",
      public_url: "http://localhost:18080",
      login: { client_id: CLIENT, redirect_uris: ["https://console.example.com/callback"] },
    },
  };
  writeFileSync(file, stringify(document));
  const found = [loadIamConfig, loadMigrationConfig].map((load) => {
    try {
      load(file);
      return [];
    } catch (error) {
      const { problems } = error as ConfigurationError;
      return problems.map((problem) => problem.replaceAll(`${folder}/`, ""));
    }
  });
  expect(found[1]).toEqual(found[0]);
  return found[0] ?? [];
}

const lacks = (what: string) =>
  `service.yaml:19:5 security.authz.model (model.zed) lacks ${what}, which svc-iam needs: name model/iam.zed, or a model that svc-access model merge made of it and others`;

test.each<[string, string | undefined, string]>([
  [
    "an empty file",
    "",
    lacks(
      "the type user, the type service, the type service_account, the type zone, the type group",
    ),
  ],
  [
    "that of another service",
    "definition user {}\ndefinition book {\n  relation reader: user\n}\n",
    lacks("the type service, the type service_account, the type zone, the type group"),
  ],
  [
    "one with zones of its own",
    IAM.replace(
      /definition zone \{[^}]*\}/,
      "definition zone {\n  relation owner: user\n}",
    ).replaceAll(/zone->\w+/g, "zone->owner"),
    lacks(
      "the relation zone#admin, the relation zone#user_viewer, the relation zone#user_manager, the relation zone#group_viewer, the relation zone#group_manager, the relation zone#permission_admin and 8 more",
    ),
  ],
  [
    "one whose owners are computed",
    IAM.replace(/(definition zone \{\n)\trelation owner: .*/, "$1\tpermission owner = admin"),
    lacks("the relation zone#owner"),
  ],
  [
    "one that is not valid",
    "definition user {",
    'service.yaml:19:5 security.authz.model: model.zed:1:18 expected "}", found the end of the file; close the definition',
  ],
  [
    "one that does not exist",
    undefined,
    "service.yaml:19:5 security.authz.model: the model model.zed does not exist; create it, or name another file",
  ],
])("a model is refused: %s", (_, model, problem) => {
  expect(problemsOf(model)).toEqual([problem]);
});

test("a folder is refused", () => {
  expect(problemsOf(FOLDER)).toEqual([
    "service.yaml:19:5 security.authz.model: the model model.zed is a folder; name the file in it",
  ]);
});

test("a model that contains that of svc-iam is accepted", () => {
  expect(problemsOf(IAM)).toEqual([]);
  expect(problemsOf(`${IAM}\ndefinition book {\n  relation reader: user\n}\n`)).toEqual([]);
});

test("what svc-iam requires is what model/iam.zed has of these types", () => {
  const { model } = parseModel(IAM, "iam.zed");
  expect(missingOfModel(model)).toEqual([]);
  for (const [type, required] of Object.entries(REQUIRED_MODEL)) {
    const { relations, permissions } = model.definitions.get(type) ?? {};
    expect(required, type).toEqual({
      relations: [...(relations?.keys() ?? [])],
      permissions: [...(permissions?.keys() ?? [])],
    });
  }
});
