/**
 * The files of `init` fit the repository: buf lints it, the generated code has the right types and
 * runs on Node.js directly, and `buf breaking` compares it with a commit.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { columnsOf, IS_THOROUGH } from "../support/effort.ts";
import { InstalledRepository } from "../support/installed-repository.ts";

/** A proto with typical difficulties for generators: an enum, a nested one, a route, a policy. */
function proto(name: string, policy = "{exposure: AUTHENTICATED}"): string {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  return `syntax = "proto3";

package acme.${name}.v1;

import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";

service ${title}Service {
  rpc Get${title}(Get${title}Request) returns (Get${title}Response) {
    option (google.api.http) = {get: "/v1/${name}/{id}"};
    option (svc.access.v1.policy) = ${policy};
  }
}

enum State {
  STATE_UNSPECIFIED = 0;
  STATE_OPEN = 1;
}

message Get${title}Request {
  string id = 1;
}
message Get${title}Response {
  enum Kind {
    KIND_UNSPECIFIED = 0;
    KIND_LARGE = 1;
  }
  State state = 1;
  Kind kind = 2;
}
`;
}

const main = (name: string) => {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  return `import { bind${title}Service } from "../gen/acme/${name}/v1/${name}_server.ts";
import { Get${title}Response_Kind, State } from "../gen/acme/${name}/v1/${name}_pb.ts";

const binding = bind${title}Service({
  async get${title}() {
    return { state: State.OPEN, kind: Get${title}Response_Kind.LARGE };
  },
});
console.log(binding.service.typeName, State.OPEN, Get${title}Response_Kind.LARGE);
`;
};

/** Each test runs a dozen programs. */
const SLOW = 240_000;

const GOOGLE = Object.fromEntries(
  ["annotations", "http", "httpbody"].map((name) => {
    const path = new URL(`../../proto/google/api/${name}.proto`, import.meta.url);
    return [`google/api/${name}.proto`, readFileSync(path, "utf8")];
  }),
);
const below = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

const LAYOUTS: readonly {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly services: readonly string[];
}[] = [
  {
    name: "proto/",
    files: { "proto/acme/orders/v1/orders.proto": proto("orders") },
    services: ["orders"],
  },
  {
    name: "another module than proto/",
    files: { "backend/api/acme/orders/v1/orders.proto": proto("orders") },
    services: ["orders"],
  },
  {
    name: "several modules",
    files: {
      "api/acme/orders/v1/orders.proto": proto("orders"),
      "internal/acme/bills/v1/bills.proto": proto("bills"),
    },
    services: ["orders", "bills"],
  },
  {
    name: "the root as the module",
    files: { "acme/orders/v1/orders.proto": proto("orders") },
    services: ["orders"],
  },
  {
    name: "a module within the root",
    files: {
      "acme/orders/v1/orders.proto": proto("orders"),
      "more/acme/bills/v1/bills.proto": proto("bills"),
    },
    services: ["orders", "bills"],
  },
  {
    name: "protos of Google in a separate module",
    files: {
      ...below("third_party/googleapis", GOOGLE),
      "api/acme/orders/v1/orders.proto": proto("orders"),
    },
    services: ["orders"],
  },
];

test.each(
  columnsOf(
    LAYOUTS.map((layout, turn) => ({ ...layout, turn })),
    0,
    3,
  ),
)(
  "in a repository with $name, the files that init writes lint, generate, type-check, run on Node, and compare with git [COMP-10]",
  ({ files, services, turn }) => {
    using repo = new InstalledRepository(files);
    repo.must("git", "init", "--quiet", "--initial-branch=main");
    repo.write(".gitignore", "node_modules/\n");
    const printed = repo.must("svc-access", "init");
    expect(printed).toContain("buf.yaml written");
    expect(printed).not.toContain("Add to");
    expectItWorks(repo, services, turn);
    expectABreakingChangeIsFound(repo, Object.keys(files), turn);
  },
);

const PLUGIN = "plugins:\n  - plugin: buf-plugin-svc-access\n";

const CONFIGURED = [
  {
    name: "other modules",
    files: {
      "api/acme/orders/v1/orders.proto": proto("orders"),
      "internal/acme/bills/v1/bills.proto": proto("bills"),
    },
    bufYaml: `# Ours.
version: v2
modules:
  - path: api
  - path: ./internal/
    lint:
      use: [MINIMAL]
lint:
  use:
    - STANDARD # strict
  except: [RPC_REQUEST_STANDARD_NAME]
`,
    services: ["orders", "bills"],
  },
  {
    name: "no modules, so that the root is the module",
    files: { "acme/orders/v1/orders.proto": proto("orders") },
    bufYaml: "version: v2\n",
    services: ["orders"],
  },
  {
    name: "the root as one of its modules, and a plugin",
    files: { "acme/orders/v1/orders.proto": proto("orders") },
    bufYaml: `version: v2\nmodules:\n  - path: .\n    excludes: [node_modules]\n${PLUGIN}    options: {config: svc-access.yaml}\n`,
    services: ["orders"],
  },
  {
    name: "a module of Google's protos",
    files: {
      ...below("vendor/googleapis", GOOGLE),
      "proto/acme/orders/v1/orders.proto": proto("orders"),
    },
    bufYaml: `version: v2\nmodules:\n  - path: proto\n  - path: vendor/googleapis\n    lint: {ignore: [vendor/googleapis]}\n`,
    services: ["orders"],
  },
];

test.each(
  columnsOf(
    CONFIGURED.map((repository, turn) => ({ ...repository, turn })),
    2,
    3,
  ),
)(
  "a buf.yaml with $name stays unchanged, and the parts that init shows make it work",
  ({ files, bufYaml, services, turn }) => {
    using repo = new InstalledRepository({ ...files, "buf.yaml": bufYaml });
    repo.must("git", "init", "--quiet", "--initial-branch=main");
    repo.write(".gitignore", "node_modules/\n");
    const printed = repo.must("svc-access", "init");
    expect(readFileSync(join(repo.folder, "buf.yaml"), "utf8")).toBe(bufYaml);
    expect(printed).toContain("buf.yaml exists and stays unchanged");
    const parts = /Add to buf\.yaml:\n[^\n]*\n?([\s\S]*?)\n\nNext:/.exec(printed)?.[1] ?? "";
    // A printed part replaces the existing one.
    const keys = [...parts.matchAll(/^(\w+):/gm)].map(([, key]) => key);
    expect(keys).not.toEqual([]);
    const kept = bufYaml
      .split(/^(?=\w)/m)
      .filter((part) => !keys.some((key) => part.startsWith(`${key}:`)));
    writeFileSync(join(repo.folder, "buf.yaml"), `${kept.join("")}${parts}\n`);
    expectItWorks(repo, services, turn);
    expectABreakingChangeIsFound(repo, Object.keys(files), turn);
    expect(repo.must("svc-access", "init")).not.toContain("Add to");
  },
);

test("a repository with protos of Google from the registry gets no copies of them", () => {
  using repo = new InstalledRepository({
    "buf.yaml":
      "version: v2\nmodules:\n  - path: proto\ndeps:\n  - buf.build/googleapis/googleapis\n",
  });
  repo.must("svc-access", "init");
  const copies = join(repo.folder, "third_party/svc-access");
  expect(existsSync(join(copies, "svc/access/v1/policy.proto"))).toBe(true);
  expect(existsSync(join(copies, "google"))).toBe(false);
});

test.each([
  ["buf.yaml", "version: v1\n", "buf.yaml does not have version v2"],
  ["buf.work.yaml", "version: v1\ndirectories: [proto]\n", "npx buf config migrate"],
  ["buf.yaml", "modules: [", "buf.yaml cannot be read"],
  ["buf.yaml", "- v2\n", "buf.yaml is not a map"],
])("a %s of %j is refused, and nothing is written", (name, text, message) => {
  using repo = new InstalledRepository({ [name]: text });
  const { status, stderr } = repo.run("svc-access", "init");
  expect(status).toBe(2);
  expect(stderr).toContain(message);
  expect(existsSync(join(repo.folder, "buf.gen.yaml"))).toBe(false);
  expect(existsSync(join(repo.folder, "third_party"))).toBe(false);
});

test(
  "in an npm workspace, the package is found above, where it is installed",
  () => {
    using repo = new InstalledRepository({
      "backend/orders/proto/acme/orders/v1/orders.proto": proto(
        "orders",
        '{\n      exposure: AUTHORIZED\n      authz: {action: "read", resource: "project:{id}"}\n    }',
      ),
    });
    repo.must("svc-access", "init", "backend/orders");
    const lint = repo.run("bash", "-c", "cd backend/orders && buf lint && buf generate");
    expect(lint).toMatchObject({ status: 0, stdout: "" });
    const text = readFileSync(join(repo.folder, "backend/orders/svc-access.yaml"), "utf8");
    expect(text).toContain("model: ../../node_modules/svc-access/model/iam.zed\n");
  },
  SLOW,
);

test("a second service in the folder of another is rejected, and nothing is written", () => {
  using repo = new InstalledRepository();
  repo.must("svc-access", "init", "--service", "notes");
  const { status, stderr } = repo.run("svc-access", "init", "--service", "bills");
  expect(status).toBe(2);
  expect(stderr).toContain("npx svc-access init --service bills bills");
  expect(existsSync(join(repo.folder, "proto/bills"))).toBe(false);
  expect(repo.must("svc-access", "init", "--service", "notes")).not.toContain("Add to");
});

test("buf generate does not empty a folder gen with other files", () => {
  using repo = new InstalledRepository({
    "proto/acme/orders/v1/orders.proto": proto("orders"),
    "gen/README.md": "by hand\n",
  });
  expect(repo.must("svc-access", "init")).toContain("has no clean: true");
  repo.must("buf", "generate");
  expect(existsSync(join(repo.folder, "gen/README.md"))).toBe(true);
});

test("an existing tsconfig.json stays unchanged, and missing parts are shown", () => {
  const options = '{"compilerOptions": {"module": "NodeNext"}}\n';
  using repo = new InstalledRepository({ "tsconfig.json": options });
  expect(repo.must("svc-access", "init")).toContain('"rewriteRelativeImportExtensions": true');
  expect(readFileSync(join(repo.folder, "tsconfig.json"), "utf8")).toBe(options);
});

test(
  "copies that an upgrade left behind are an error whose message names init --update, which updates them",
  () => {
    using repo = new InstalledRepository({ "proto/acme/orders/v1/orders.proto": proto("orders") });
    repo.must("svc-access", "init");
    const path = "third_party/svc-access/svc/access/v1/policy.proto";
    const text = readFileSync(join(repo.folder, path), "utf8");
    repo.write(path, text.replace(/^ *optional string event = .*$/m, ""));
    const { status, stdout } = repo.run("buf", "lint");
    expect(status).toBe(100);
    expect(stdout).toContain("run npx svc-access init --update");
    expect(repo.must("svc-access", "init")).toContain(`out of date: ${path}`);
    expect(repo.must("svc-access", "init", "--update")).toBe(`${path} updated\n`);
    expect(readFileSync(join(repo.folder, path), "utf8")).toBe(text);
    expect(repo.must("svc-access", "init", "--update")).toContain("are those of this version");
    expect(repo.run("buf", "lint")).toMatchObject({ status: 0, stdout: "" });
  },
  SLOW,
);

test(
  "a buf.yaml with the module in node_modules keeps working, and init explains how to change it",
  () => {
    using repo = new InstalledRepository({
      "proto/acme/orders/v1/orders.proto": proto("orders"),
      "buf.yaml": `version: v2
modules:
  - path: proto
  - path: node_modules/svc-access/proto
    lint: {ignore: [node_modules/svc-access/proto]}
${PLUGIN}    options: {config: svc-access.yaml}
lint: {use: [STANDARD, ACCESS]}
`,
    });
    const printed = repo.must("svc-access", "init");
    expect(printed).not.toContain("Add to");
    expect(printed).toContain("remove the module, run npx svc-access init --update");
    expect(existsSync(join(repo.folder, "third_party"))).toBe(false);
    expectItWorks(repo, ["orders"], 0);
  },
  SLOW,
);

/**
 * Any command of buf shows that it finds the modules. Each of the next two checks runs for all
 * repositories in CI, else for one of six.
 */
function expectItWorks(repo: InstalledRepository, services: readonly string[], turn: number): void {
  expect(repo.run("buf", "lint")).toMatchObject({ status: 0, stdout: "" });
  if (!IS_THOROUGH && turn % 6 !== 0) return;
  repo.must("buf", "generate");
  const { policies } = JSON.parse(readFileSync(join(repo.folder, "gen/policies.json"), "utf8"));
  expect(Object.keys(policies)).toHaveLength(services.length);
  for (const name of services) repo.write(`src/${name}.ts`, main(name));
  expect(repo.run("tsc")).toMatchObject({ status: 0, stdout: "" });
  for (const name of services) {
    const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    expect(repo.run("node", `src/${name}.ts`)).toMatchObject({
      status: 0,
      stdout: `acme.${name}.v1.${title}Service 1 1\n`,
    });
  }
}

function expectABreakingChangeIsFound(
  repo: InstalledRepository,
  files: readonly string[],
  turn: number,
): void {
  if (!IS_THOROUGH && turn % 6 !== 1) return;
  const file = files.find((name) => /orders/.test(name)) ?? "";
  repo.commit("before");
  const path = join(repo.folder, file);
  writeFileSync(path, readFileSync(path, "utf8").replace("string id = 1", "int64 id = 1"));
  const { status, stdout } = repo.run("buf", "breaking", "--against", ".git#branch=main");
  expect(status).toBe(100);
  expect(stdout).toContain(`${file}:`);
}
