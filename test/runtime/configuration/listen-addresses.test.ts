import { expect, test } from "vitest";
import {
  type ListenAddresses,
  withAddresses,
} from "../../../src/runtime/configuration/listen-addresses.ts";

const NONE: ListenAddresses = {};
const BOTH: ListenAddresses = { http: "0.0.0.0:1", metrics: "127.0.0.1:2" };
const OPENED = { http: { address: "0.0.0.0:1" }, metrics: { address: "127.0.0.1:2" } };

test.each<[string, object, ListenAddresses, object]>([
  ["nothing, without defaults", {}, NONE, {}],
  ["nothing", {}, BOTH, { server: OPENED }],
  ["an empty section", { server: {} }, BOTH, { server: OPENED }],
  ["a section that is not one", { server: 1 }, BOTH, { server: 1 }],
  ["a section that is null", { server: null }, BOTH, { server: OPENED }],
  ["a section that is null, without defaults", { server: null }, NONE, { server: null }],
  ["a list", { server: [] }, BOTH, { server: [] }],
  [
    "other keys",
    { server: { error_info: true } },
    BOTH,
    { server: { error_info: true, ...OPENED } },
  ],
  [
    "a server with an address, and one without",
    { server: { http: { address: "[::1]:3" }, metrics: { path: "/m" } } },
    BOTH,
    { server: { http: { address: "[::1]:3" }, metrics: { path: "/m", address: "127.0.0.1:2" } } },
  ],
  [
    "servers that are null",
    { server: { http: null, grpc: null, metrics: null } },
    BOTH,
    { server: {} },
  ],
  ["a server that is null, without defaults", { server: { grpc: null } }, NONE, { server: {} }],
  [
    "a server that is not a section",
    { server: { http: 1 } },
    BOTH,
    { server: { ...OPENED, http: 1 } },
  ],
])("a configuration with %s", (_, given, addresses, expected) => {
  expect(withAddresses(given, addresses)).toEqual(expected);
});
