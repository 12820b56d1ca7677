import { describe, expect, test } from "vitest";
import type { ProtobufService } from "../../../src/api/api.ts";
import { shapeOf } from "../../../src/api/path-template.ts";
import { deploy } from "../../../src/compiler/read/deploy.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import { frontend, platform } from "../../rules/platforms.ts";

/** A service without RPCs, by its full name. */
function service(fullName: string): ProtobufService {
  const dot = fullName.lastIndexOf(".");
  return {
    name: fullName.slice(dot + 1),
    fullName,
    package: fullName.slice(0, Math.max(dot, 0)),
    file: "a.proto",
    rpcs: [],
  };
}

function deployWith(config: string | undefined, ...names: string[]) {
  if (config === undefined) return deploy(names.map(service), undefined);
  const result = loadConfig(config, "svc-access.yaml", {});
  if (result.loaded === undefined) throw new Error(JSON.stringify(result.diagnostics));
  return deploy(names.map(service), result.loaded);
}

/** `name: services`, in order. */
const groups = ({ services }: ReturnType<typeof deploy>) =>
  services.map(
    ({ name, services }) => `${name}: ${services.map(({ fullName }) => fullName).join(" ")}`,
  );

describe("deployed services", () => {
  test("are the packages if none is configured [PLCF-2]", () => {
    const api = deployWith(undefined, "b.v1.S", "a.v1.S", "a.v1.T", "Root");
    expect(groups(api)).toEqual([": Root", "a.v1: a.v1.S a.v1.T", "b.v1: b.v1.S"]);
    expect(api.services.every(({ configured }) => !configured)).toBe(true);
    expect(api.hosts).toEqual([]);
  });

  test("are those of the configuration, by name, and no others", () => {
    const api = deployWith(
      "services: { iam: { packages: [c.v1] }, hub: { packages: [b.v1, a.v1], published_as: grpc, authn_mode: hybrid } }\nclients: [y.v1]",
      "a.v1.S",
      "b.v1.S",
      "svc.iam.v1.IAMAuthService",
      "y.v1.S",
      "z.v1.S",
    );
    expect(groups(api)).toEqual(["hub: a.v1.S b.v1.S", "iam: "]);
    expect(api.services.every(({ configured }) => configured)).toBe(true);
    expect(api.services[0]).toMatchObject({ publishedAs: "grpc", authnMode: "hybrid" });
    expect(api.services[1]).toMatchObject({ publishedAs: "http", authnMode: "gateway_trusted" });
    expect(api.clients.map(({ fullName }) => fullName)).toEqual([
      "svc.iam.v1.IAMAuthService",
      "y.v1.S",
    ]);
    expect(api.unassigned.map(({ fullName }) => fullName)).toEqual(["z.v1.S"]);
  });

  test.each([
    ["without a configuration", undefined, "client"],
    ["without services", "clients: [y.v1]", "client"],
    ["with services that do not have it", "services: { hub: { packages: [a.v1] } }", "client"],
    ["with a service that has it", "services: { iam: { packages: [svc.iam.v1] } }", "served"],
  ])(
    "svc.iam.v1, as it is shipped, is only called unless a service has it: %s [COMP-6]",
    (_, config, role) => {
      const api = deployWith(config, "svc.iam.v1.IAMAuthService");
      expect(api.clients).toHaveLength(role === "client" ? 1 : 0);
      expect(api.services.flatMap(({ services }) => services)).toHaveLength(
        role === "served" ? 1 : 0,
      );
    },
  );

  test("do not serve a package that they do not list, even if it has their name", () => {
    expect(() => deployWith("services: { hub: { packages: [a.v1] } }", "a.v1.S", "hub.S")).toThrow(
      "the package hub has the name of a service that does not serve it",
    );
  });
});

describe("hosts", () => {
  const api = deployWith(
    platform(
      "services: { one: { packages: [a.v1] }, two: { packages: [b.v1] } }",
      [
        frontend("web", { host: "b.example.com", services: "two, one" }),
        frontend("admin", { host: "a.example.com", services: "one", claims: "console" }),
        frontend("help", { host: "b.example.com" }),
      ],
      [
        "frontend: web, path: /pages, match: prefix, exposure: AUTHENTICATED",
        "service: one, path: /healthz, exposure: PUBLIC",
      ],
    ),
  );

  test("contain their frontends, all in the order of their names", () => {
    const names = api.hosts.map(({ name, frontends }) => [
      name,
      ...frontends.map((each) => each.name),
    ]);
    expect(names).toEqual([
      ["a.example.com", "admin"],
      ["b.example.com", "help", "web"],
    ]);
    expect(api.hosts[1]?.frontends[1]?.services).toEqual(["one", "two"]);
  });

  test("know which fields of the principal their frontends fill [EDGE-8]", () => {
    expect(api.hosts[0]?.frontends[0]?.principalFields).toEqual([
      "email",
      "name",
      "organization_id",
      "scopes",
      "source",
      "subject_id",
      "username",
    ]);
    expect(api.hosts[1]?.frontends[0]?.principalFields).toEqual([
      "email",
      "name",
      "source",
      "subject_id",
      "username",
    ]);
  });

  test("and services have the paths that are declared for them, and where [PLCF-3]", () => {
    expect(api.hosts[1]?.frontends[1]?.paths).toEqual([
      expect.objectContaining({
        frontend: "web",
        path: "/pages",
        methods: ["GET"],
        exposure: "AUTHENTICATED",
      }),
    ]);
    expect(api.services[0]?.paths.map(({ path, position }) => ({ path, position }))).toEqual([
      { path: "/healthz", position: { file: "svc-access.yaml", line: 8, column: 21 } },
    ]);
  });
});

test.each([
  ["/healthz", "exact", "/healthz"],
  ["/", "exact", "/"],
  ["/v1/things:run", "exact", "/v1/things:run"],
  ["/", "prefix", "/**"],
  ["/pages", "prefix", "/pages/**"],
  ["/pages/", "prefix", "/pages/**"],
])("the declared path %s (%s) is the template %s", (path, match, shape) => {
  const config = `services: {one: {packages: [a.v1]}}\npaths: [{service: one, path: "${path}", match: ${match}, exposure: PUBLIC}]`;
  const [declared] = deployWith(config).services[0]?.paths ?? [];
  expect(declared && shapeOf(declared.template)).toBe(shape);
});
