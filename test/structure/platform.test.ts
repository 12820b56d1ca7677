/** What the platform agrees on, as the sources and examples of this repository have it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { ROOT } from "../support/workspace.ts";

/** The folders of `src/runtime` that take connections, or what comes by them. */
const SERVING = "grpc http http2 json port rpc rpc-over-http server tls wire".split(" ");

test("the examples have ports of the platform, and the hub its own [PLAT-7]", () => {
  const portsOf = (example: string) => {
    const file = `examples/${example}/svc-access.yaml`;
    const { loaded } = loadConfig(readFileSync(join(ROOT, file), "utf8"), file, {});
    const services = Object.entries(loaded?.config.services ?? {});
    return new Map(services.map(([name, { ports }]) => [name, ports]));
  };
  expect(portsOf("hub").get("hub")).toEqual({ http: 18001, grpc: 19001 });
  const all = [...portsOf("hub").values(), ...portsOf("notes").values()];
  expect(all.length).toBeGreaterThan(2);
  for (const { http = 18000, grpc = 19000 } of all) {
    expect([Math.floor(http / 100), Math.floor(grpc / 100)]).toEqual([180, 190]);
  }
});

test("the runtime loads no server packages except those of Node [TRANS-1]", () => {
  const loaded = SERVING.flatMap((folder) => {
    const files = readdirSync(join(ROOT, "src/runtime", folder), { recursive: true });
    return files
      .map((name) => join(ROOT, "src/runtime", folder, String(name)))
      .filter((path) => path.endsWith(".ts"))
      .flatMap((path) => [...readFileSync(path, "utf8").matchAll(/ from "([^."][^"]*)"/g)])
      .map(([, name = ""]) => name);
  });
  expect(loaded).toContain("node:http");
  expect(loaded).toContain("node:http2");
  const packages = loaded.filter((name) => !/^node:[a-z]/.test(name));
  expect(packages.filter((name) => !name.startsWith("@bufbuild/protobuf"))).toEqual([]);
});

test("the packages and the paths of the platform have the version v1 [PLAT-13]", () => {
  const folders = ["proto/svc", "examples/hub/proto", "examples/notes/proto"];
  const sources = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".proto"))
      .map((name) => readFileSync(join(ROOT, folder, name), "utf8"))
      .filter((source) => !/^package google\./m.test(source)),
  );
  expect(sources.length).toBeGreaterThan(10);
  for (const source of sources) {
    expect(source).toMatch(/^package [\w.]+\.v1;$/m);
    for (const [, path] of source.matchAll(/\b(?:get|put|post|patch|delete): "([^"]*)"/g)) {
      expect(path).toMatch(/^\/v1\//);
    }
  }
});
