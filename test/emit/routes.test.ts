import { expect, test } from "vitest";
import type { Api, DeclaredPath, DeployedService } from "../../src/api/api.ts";
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
  publishedAs: "http",
  authnMode: "hybrid",
  services: [],
  paths: [
    path("/v1/iam/ui/login"),
    path("/v1/iam/ui", { match: "prefix", methods: ["*"], exposure: "AUTHENTICATED" }),
  ],
};

test("a service's declared paths are in its document, in their order, and nothing else of them", () => {
  expect(routeDocument(service).paths).toEqual([
    { path: "/v1/iam/ui/login", match: "exact", methods: ["GET"], exposure: "PUBLIC" },
    { path: "/v1/iam/ui", match: "prefix", methods: ["*"], exposure: "AUTHENTICATED" },
  ]);
});

test("a service without paths has none", () => {
  expect(routeDocument({ ...service, paths: [] }).paths).toEqual([]);
});

test("a service without RPCs has no document: another repository makes it", () => {
  const api: Api = { services: [service], hosts: [] };
  expect(emitRoutes({ api, config: undefined }).files).toEqual([]);
});
