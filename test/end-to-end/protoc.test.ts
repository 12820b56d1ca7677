/** The plugin with protoc and without buf: all files in one run, and file by file. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IS_THOROUGH } from "../support/effort.ts";
import { InstalledRepository } from "../support/installed-repository.ts";
import { BIN, type Outcome, runProgram } from "../support/programs.ts";
import { PROTOC, protocIsAbsent } from "../support/protoc.ts";
import { ROOT, Workspace } from "../support/workspace.ts";

const proto = (packageName: string, service: string, path: string) => `syntax = "proto3";
package ${packageName};
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
message ${service}Request { string id = 1; }
message ${service}Response {}
// What it is for.
service ${service}Service {
  // Reads one.
  rpc Get${service}(${service}Request) returns (${service}Response) {
    option (google.api.http) = {get: "${path}"};
    option (svc.access.v1.policy) = {exposure: AUTHENTICATED gateway: {publish: true}};
  }
}
`;

const FILES = ["orders/v1/orders.proto", "orders/v1/refunds.proto", "bills/v1/bills.proto"];
const CONFIG = "services: {shop: {packages: [orders.v1, bills.v1]}}\nclients: [weather.v1]\n";

/** What spans files. */
const SPANNING = ["policies.json", "routes/shop.json"];
const OF_EACH = [
  "bills/v1/bills_access.ts",
  "bills/v1/bills_server.ts",
  "orders/v1/orders_access.ts",
  "orders/v1/orders_server.ts",
  "orders/v1/refunds_access.ts",
  "orders/v1/refunds_server.ts",
];

let workspace: Workspace;

beforeAll(() => {
  workspace = new Workspace({
    "orders/v1/orders.proto": proto("orders.v1", "Order", "/v1/orders/{id}"),
    "orders/v1/refunds.proto": proto("orders.v1", "Refund", "/v1/refunds/{id}"),
    "bills/v1/bills.proto": proto("bills.v1", "Bill", "/v1/bills/{id}"),
    "weather/v1/weather.proto": proto("weather.v1", "Weather", "/weather/{id}"),
  });
  workspace.write("svc-access.yaml", CONFIG);
});

afterAll(() => workspace[Symbol.dispose]());

/** Runs protoc as the documentation has it. */
function protoc(
  out: string,
  options: string,
  files: readonly string[],
  config = "svc-access.yaml",
): Outcome {
  mkdirSync(join(workspace.folder, out), { recursive: true });
  const [command = "", ...args] = PROTOC ?? [];
  return runProgram(
    command,
    [
      ...args,
      "-I",
      "proto",
      "-I",
      "vendor",
      `--plugin=protoc-gen-svc-access=${join(ROOT, "bin/protoc-gen-svc-access")}`,
      `--svc-access_out=${out}`,
      `--svc-access_opt=${[`config=${config}`, "import_extension=ts", options].filter((each) => each !== "").join(",")}`,
      ...files,
    ],
    { cwd: workspace.folder },
  );
}

function contents(out: string): Record<string, string> {
  const folder = join(workspace.folder, out);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  return Object.fromEntries(
    names.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

describe.skipIf(protocIsAbsent())("protoc", () => {
  test("over all files makes the same files as svc-access generate", () => {
    expect(protoc("whole", "", FILES)).toMatchObject({ status: 0 });
    const made = contents("whole");
    expect(Object.keys(made)).toEqual([...OF_EACH, ...SPANNING].sort());
    expect(Object.keys(JSON.parse(made["policies.json"] ?? "").policies)).toHaveLength(3);
    const own = runProgram(
      "svc-access",
      [
        "generate",
        "proto",
        "--out",
        "own",
        "--import-extension",
        "ts",
        "--config",
        "svc-access.yaml",
      ],
      { cwd: workspace.folder },
    );
    expect(own).toMatchObject({ status: 0 });
    const { "weather/v1/weather_client.ts": client, ...others } = contents("own");
    expect(client).toContain("WeatherServiceRoutes");
    expect(others).toEqual(made);
  });

  test("file by file rejects outputs that need all files, and writes none of them", () => {
    for (const file of FILES) {
      const { status, stderr } = protoc("refused", "", [file]);
      expect(status).not.toBe(0);
      expect(stderr).toContain(`this run of protoc has only ${file}`);
      expect(stderr).toContain("routes/, policies.json, gateway/ need all files");
      expect(stderr).toContain("files=each");
    }
    expect(contents("refused")).toEqual({});
  });

  test("folder by folder rejects them, too", () => {
    const { status, stderr } = protoc("folders", "", FILES.slice(0, 2));
    expect(status).not.toBe(0);
    expect(stderr).toContain("the service shop also has the package bills.v1");
    expect(contents("folders")).toEqual({});
  });

  test("file by file with files=each, and once more over all, makes the same as one run", () => {
    for (const file of FILES) {
      expect(protoc("each", "files=each", [file])).toMatchObject({ status: 0 });
    }
    expect(Object.keys(contents("each"))).toEqual(OF_EACH);
    const spanning = protoc("each", "target=policies,target=routes", FILES);
    expect(spanning).toMatchObject({ status: 0 });
    expect(contents("each")).toEqual(contents("whole"));
  });

  test("over the only file of a service makes all outputs with files=all", () => {
    workspace.write("one.yaml", "services: {bills: {packages: [bills.v1]}}\n");
    const run = protoc("one", "files=all", ["bills/v1/bills.proto"], "one.yaml");
    expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining("no gateway files") });
    expect(Object.keys(contents("one"))).toEqual([
      "bills/v1/bills_access.ts",
      "bills/v1/bills_server.ts",
      "policies.json",
      "routes/bills.json",
    ]);
  });

  test("of a package that is only called makes only its client", () => {
    expect(protoc("client", "files=each", ["weather/v1/weather.proto"])).toMatchObject({
      status: 0,
    });
    expect(Object.keys(contents("client"))).toEqual(["weather/v1/weather_client.ts"]);
  });

  test("in a run over clients only makes no policies.json, which would overwrite another", () => {
    expect(protoc("clients", "files=all", ["weather/v1/weather.proto"])).toMatchObject({
      status: 0,
    });
    expect(Object.keys(contents("clients"))).toEqual(["weather/v1/weather_client.ts"]);
  });

  test("prints findings with their positions, and writes nothing", () => {
    const text = proto("bills.v1", "Bill", "/v1/bills/{id}").replace("exposure: AUTHENTICATED", "");
    writeFileSync(
      join(workspace.folder, "proto/bills/v1/wrong.proto"),
      text.replaceAll("Bill", "Wrong"),
    );
    const { status, stderr } = protoc("wrong", "files=each", ["bills/v1/wrong.proto"]);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/bills\/v1\/wrong\.proto:\d+:\d+: .*\(ACCESS_EXPOSURE_REQUIRED\)/);
    expect(contents("wrong")).toEqual({});
  });
});

/** The commands of the page, in order: for one run, for a run for each file, for lint. */
const [ONE_RUN = "", EACH_RUN = "", LINT = ""] = [
  ...(
    readFileSync(join(ROOT, "docs/generating.md"), "utf8").split("\n## protoc\n")[1] ?? ""
  ).matchAll(/```sh\n(.*?)```/gs),
].map(([, commands = ""]) => commands);

/** A repository with the plugins that npm would install, and without files of buf. */
function repositoryOfProtoc(): InstalledRepository {
  const repo = new InstalledRepository({
    "proto/orders/v1/orders.proto": proto("orders.v1", "Order", "/v1/orders/{id}"),
    "proto/orders/v1/refunds.proto": proto("orders.v1", "Refund", "/v1/refunds/{id}"),
    "proto/bills/v1/bills.proto": proto("bills.v1", "Bill", "/v1/bills/{id}"),
    "svc-access.yaml": CONFIG,
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        target: "ES2023",
        module: "NodeNext",
        types: ["node"],
        strict: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
        erasableSyntaxOnly: true,
        noEmit: true,
      },
      include: ["gen", "load.ts"],
    }),
    "load.ts": FILES.map((file, index) => {
      const name = file.replace(".proto", "");
      return `import * as server${index} from "./gen/${name}_server.ts";\nimport * as pb${index} from "./gen/${name}_pb.ts";\nconsole.log(Object.keys(server${index}).some((name) => name.startsWith("bind")), Object.keys(pb${index}).length > 0);\n`;
    }).join(""),
  });
  for (const [name, target] of [
    ["protoc-gen-es", join(BIN, "protoc-gen-es")],
    ["protoc-gen-svc-access", join(ROOT, "bin/protoc-gen-svc-access")],
  ] as const) {
    repo.write(`node_modules/.bin/${name}`, `#!/bin/sh\nexec "${target}" "$@"\n`);
    chmodSync(join(repo.folder, "node_modules/.bin", name), 0o755);
  }
  return repo;
}

/** Runs commands of the page in a shell with the available protoc. */
function runPage(repo: InstalledRepository, commands: string): Outcome {
  const found = (PROTOC ?? []).map((word) => `'${word}'`).join(" ");
  return repo.run("bash", "-euc", `protoc() { command ${found} "$@"; }\n${commands}`);
}

describe.skipIf(protocIsAbsent())("the commands of the page about protoc", () => {
  const [variables = ""] = ONE_RUN.split("\nprotoc ");

  const ways = [
    { name: "one run", commands: ONE_RUN },
    { name: "a run for each file", commands: `${variables}\n${EACH_RUN}` },
  ];
  // The tests above verify that the output is the same.
  test.each(IS_THOROUGH ? ways : ways.slice(1))(
    "make code in $name that type-checks and runs",
    ({ commands }) => {
      using repo = repositoryOfProtoc();
      expect(runPage(repo, commands)).toMatchObject({ status: 0 });
      expect(repo.run("tsc")).toMatchObject({ status: 0, stdout: "" });
      expect(repo.run("node", "load.ts")).toMatchObject({
        status: 0,
        stdout: "true true\n".repeat(3),
      });
      const { policies } = JSON.parse(readFileSync(join(repo.folder, "gen/policies.json"), "utf8"));
      expect(Object.keys(policies)).toHaveLength(3);
    },
  );

  test("make the outputs of all files even if a repository has only one", () => {
    using repo = repositoryOfProtoc();
    repo.write("svc-access.yaml", "services: {shop: {packages: [bills.v1]}}\n");
    const one = variables.replace(/^files=.*$/m, 'files="bills/v1/bills.proto"');
    expect(runPage(repo, `${one}\n${EACH_RUN}`)).toMatchObject({ status: 0 });
    const { policies } = JSON.parse(readFileSync(join(repo.folder, "gen/policies.json"), "utf8"));
    expect(Object.keys(policies)).toHaveLength(1);
  });

  test("lint a descriptor set of protoc, with the lines of its findings", () => {
    using repo = repositoryOfProtoc();
    const warned = runPage(repo, `${variables}\n${LINT}`);
    expect(warned.status).toBe(0);
    expect(warned.stdout).toMatch(
      /^orders\/v1\/refunds\.proto:\d+:\d+: warning: .*\n3 RPCs: 0 errors, 1 warning\n$/,
    );
    repo.write(
      "proto/bills/v1/bills.proto",
      proto("bills.v1", "Bill", "/v1/bills/{id}").replace("exposure: AUTHENTICATED", ""),
    );
    const { status, stdout } = runPage(repo, `${variables}\n${LINT}`);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^bills\/v1\/bills\.proto:\d+:\d+: .*\(ACCESS_EXPOSURE_REQUIRED\)/m);
  });
});
