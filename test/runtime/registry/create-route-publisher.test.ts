import { expect, test } from "vitest";
import type { ServiceConfig } from "../../../src/runtime/configuration/service-config.ts";
import {
  createRoutePublisher,
  etcdConnectionOf,
} from "../../../src/runtime/registry/route-publisher.ts";
import { documentOf, entryOf } from "./documents.ts";

test("without a registry in the configuration nothing is published [REG-4]", () => {
  const config = { environment: "test" } as ServiceConfig;
  expect(createRoutePublisher(config, [documentOf(entryOf("Get"))])).toBeUndefined();
});

test("etcd is called with the settings of the configuration", () => {
  const connection = etcdConnectionOf({
    endpoints: ["https://etcd:2379"],
    lease_ttl_seconds: 10,
    username: "hub",
    password: "hunter2",
    ca_file: "/ca.pem",
    certificate_file: "/tls.pem",
    key_file: "/key.pem",
  });
  expect(connection).toEqual({
    endpoints: ["https://etcd:2379"],
    username: "hub",
    password: "hunter2",
    caFile: "/ca.pem",
    certificateFile: "/tls.pem",
    keyFile: "/key.pem",
  });
});
