import { expect, test } from "vitest";
import type { Api, DeclaredPath, DeployedService } from "../../src/api/api.ts";
import { deploy } from "../../src/compiler/read/deploy.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { emitRoutes, routeDocument } from "../../src/emit/routes.ts";

const path = (name: string, more: Partial<DeclaredPath> = {}): DeclaredPath => {
  return {
    service: "iam",
    path: name,
    match: "exact",
    template: { segments: [], variables: [] } as unknown as DeclaredPath["template"],
    methods: ["GET"],
    exposure: "PUBLIC",
    position: {} as DeclaredPath["position"],
    ...more,
  };
};

const service: DeployedService = {
  name: "iam",
  configured: true,
  packages: [],
  publishedAs: "http",
  authnMode: "hybrid",
  services: [],
  paths: [
    path("/v1/iam/ui/login"),
    path("/v1/iam/ui", { match: "prefix", methods: ["*"], exposure: "AUTHENTICATED" }),
  ],
};

test("the declared paths of a service are in its document, in their order, with their published fields only", () => {
  expect(routeDocument(service).paths).toEqual([
    { path: "/v1/iam/ui/login", match: "exact", methods: ["GET"], exposure: "PUBLIC" },
    { path: "/v1/iam/ui", match: "prefix", methods: ["*"], exposure: "AUTHENTICATED" },
  ]);
});

test("a service without paths has no paths", () => {
  expect(routeDocument({ ...service, paths: [] }).paths).toEqual([]);
});

test("a service without RPCs has no document: another repository makes it", () => {
  const api: Api = { services: [service], clients: [], unassigned: [], hosts: [] };
  expect(emitRoutes({ api, config: undefined }).files).toEqual([]);
});

test("the origins of all frontends that use a service are in its document only, without duplicates [EDGE-15]", () => {
  const frontend = (services: string, origins: string) => `
    host: ${services.replaceAll(/\W/g, "")}.example.com
    namespace: a
    services: ${services}
    login: bearer
    audiences: [cli]
    allowed_origins: ${origins}`;
  const yaml = `
services:
  hub: { packages: [hub.v1] }
  iam: { packages: [iam.v1] }
  git: { packages: [git.v1] }
frontends:
  one: ${frontend("[hub]", "[https://B.example.com, https://a.example.com, https://b.example.com]")}
  two: ${frontend("[hub, iam]", "[https://b.example.com]")}
`;
  const result = loadConfig(yaml, "svc-access.yaml", {});
  if (result.loaded === undefined) throw new Error(JSON.stringify(result.diagnostics));
  const { services } = deploy([], result.loaded);
  const origins = services.map((each) => [each.name, routeDocument(each).allowedOrigins]);
  expect(Object.fromEntries(origins)).toEqual({
    hub: ["https://a.example.com", "https://b.example.com"],
    iam: ["https://b.example.com"],
    git: undefined,
  });
});
