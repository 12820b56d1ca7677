import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { columnsOf } from "../support/effort.ts";
import { ROOT } from "../support/workspace.ts";
import { HUB, ServiceProcess, type StartOptions, TOKENS } from "./support/hub-process.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-start-up-"));
const taken = createServer().listen(0, "127.0.0.1");
const port = () => `127.0.0.1:${(taken.address() as AddressInfo).port}`;

afterAll(() => {
  taken.close();
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;

/** A copy of the example with a change in one file. */
function copyWith(file: string, from: string, to: string): string {
  const copy = join(folder, `copy-${count++}`);
  for (const name of ["src", "gen", "hub.yaml", "package.json"]) {
    cpSync(join(HUB, name), join(copy, name), { recursive: true });
  }
  mkdirSync(join(copy, "node_modules"));
  symlinkSync(join(HUB, "node_modules/svc-access"), join(copy, "node_modules/svc-access"));
  symlinkSync(join(ROOT, "node_modules/@bufbuild"), join(copy, "node_modules/@bufbuild"));
  const text = readFileSync(join(copy, file), "utf8");
  expect(text).toContain(from);
  writeFileSync(join(copy, file), text.replace(from, to));
  return copy;
}

const ACCESS = "gen/hub/projects/v1/project_service_access.ts";
const CASES: [name: string, message: RegExp, () => StartOptions][] = [
  [
    "a missing variable",
    /^\S*hub\.yaml:\d+:\d+ the variable GIT_TOKEN is not set; set it, or, unless it is a secret, give it a default: \$\{NAME:-default\}\n$/,
    () => ({ environment: { GIT_TOKEN: undefined } }),
  ],
  [
    "a missing token for the Git service",
    /^the server does not start: HUB_TOKEN is missing/,
    () => ({ environment: { HUB_TOKEN: undefined } }),
  ],
  [
    "a token that can be guessed",
    /hub\.yaml:\d+:\d+ security\.authn\.internal_call\.system_token must have at least 16 characters/,
    () => ({ environment: { SYSTEM_TOKEN: "short" } }),
  ],
  [
    "an unknown key",
    /hub\.yaml:\d+:\d+ .*trusted_pears/,
    () => ({
      folder: copyWith(
        "hub.yaml",
        "mode: gateway_trusted",
        "mode: gateway_trusted\n    trusted_pears: []",
      ),
    }),
  ],
  [
    "production without trusted peers",
    /hub\.yaml:\d+:\d+ .*trusted_peers/,
    () => ({ environment: { ENVIRONMENT: "production" } }),
  ],
  [
    "an HTTP port in use",
    /^the server does not start: .*HTTP.*127\.0\.0\.1:\d+/,
    () => ({ environment: { HTTP_ADDRESS: port() } }),
  ],
  [
    "a gRPC port in use",
    /^the server does not start: .*gRPC.*127\.0\.0\.1:\d+/,
    () => ({ environment: { GRPC_ADDRESS: port() } }),
  ],
  [
    "a metrics port in use",
    /^the server does not start: .*127\.0\.0\.1:\d+/,
    () => ({ environment: { METRICS_ADDRESS: port() } }),
  ],
  [
    "a policy that the routes contradict",
    /hub\.projects\.v1\.RunnerService\/ReportLog.*run buf generate again/,
    () => ({ folder: copyWith(ACCESS, 'exposure: "INTERNAL"', 'exposure: "PUBLIC"') }),
  ],
  [
    "an RPC without a policy",
    /hub\.projects\.v1\.ProjectService\/GetUsage/,
    () => ({ folder: copyWith(ACCESS, "ProjectService/GetUsage", "ProjectService/GetUsages") }),
  ],
  [
    "a permission that the model does not have",
    /view_zone/,
    () => ({ folder: copyWith(ACCESS, '"view_zone"', '"view_zones"') }),
  ],
  [
    "a folder of data that is a file",
    /^the server does not start: .*hub\.db cannot be opened \(.*\): let DATA name a folder/,
    () => ({ environment: { DATA: join(HUB, "hub.yaml") } }),
  ],
  [
    "data that is not a database",
    /^the server does not start: .*hub\.db cannot be opened \(file is not a database\): let DATA/,
    () => {
      const DATA = join(folder, `data-${count++}`);
      mkdirSync(DATA);
      writeFileSync(join(DATA, "hub.db"), "no database ".repeat(400));
      return { environment: { DATA } };
    },
  ],
];

test.concurrent.each(columnsOf(CASES, 0, 3))(
  "%s is reported in one line, and ends the process",
  async (_, message, options) => {
    const { environment, ...rest } = options();
    const hub = new ServiceProcess("hub", {
      ...rest,
      environment: {
        ...TOKENS,
        DATA: join(folder, `data-${count++}`),
        HTTP_ADDRESS: "127.0.0.1:0",
        GRPC_ADDRESS: "127.0.0.1:0",
        METRICS_ADDRESS: "127.0.0.1:0",
        ...environment,
      },
    });
    const exitCode = await hub.exited;
    expect(hub.errors).toMatch(message);
    expect(exitCode).toBe(2);
    expect(hub.errors).not.toMatch(/^\s+at |node:internal|Error:/m);
    for (const token of [...Object.values(TOKENS), "short"]) {
      expect(hub.errors + hub.output).not.toContain(token);
    }
    expect(hub.lines.filter(({ message }) => message === "started")).toEqual([]);
  },
);
