import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { runSvcAccess } from "../../support/svc-access.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-init-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the three files are written", () => {
  const { status, stdout } = runSvcAccess(["init"], { cwd: folder });
  expect(status).toBe(0);
  for (const name of ["buf.yaml", "buf.gen.yaml", "svc-access.yaml"]) {
    expect(stdout).toContain(`${name} written`);
    expect(readFileSync(join(folder, name), "utf8")).not.toBe("");
  }
});

test("no file is overwritten, and missing parts are shown", () => {
  writeFileSync(join(folder, "buf.yaml"), "version: v2\n");
  const { status, stdout } = runSvcAccess(["init", "."], { cwd: folder });
  expect(status).toBe(0);
  expect(readFileSync(join(folder, "buf.yaml"), "utf8")).toBe("version: v2\n");
  expect(stdout).toContain("buf.yaml exists and stays unchanged");
  expect(stdout).toContain("Add to buf.yaml:");
  expect(stdout).toContain("plugin: buf-plugin-svc-access");
  expect(stdout).toContain("svc-access.yaml written");
});

test("a service beside an existing model and configuration gets the parts that they lack, and no others", () => {
  runSvcAccess(["init"], { cwd: folder });
  const model = "definition user {}\n\ndefinition team {}\n";
  writeFileSync(join(folder, "model.zed"), model);
  const { status, stdout } = runSvcAccess(["init", "--service", "notes"], { cwd: folder });
  expect(status).toBe(0);
  expect(readFileSync(join(folder, "model.zed"), "utf8")).toBe(model);
  expect(stdout).toContain(
    "Add to model.zed:\n\ndefinition service {}\n\ndefinition item {\n  relation owner: user\n",
  );
  expect(stdout).not.toContain("definition user {}");
  // The file has an environment, and a model of other services.
  expect(stdout).toContain(
    "Add to svc-access.yaml:\n\nservices:\n  notes:\n    packages: [notes.v1]\n    ports: {http: 18010, grpc: 19010}\n    model: model.zed\n",
  );
  expect(stdout).not.toContain("environment:");
  writeFileSync(join(folder, "model.zed"), `${model}\ndefinition item {}\n`);
  const again = runSvcAccess(["init", "--service", "notes"], { cwd: folder }).stdout;
  expect(again).not.toContain("Add to model.zed");
});

test("with googleapis from elsewhere, only our own protos are included", () => {
  runSvcAccess(["init", "--googleapis"], { cwd: folder });
  const copies = join(folder, "third_party/svc-access");
  expect(existsSync(join(copies, "svc/access/v1/policy.proto"))).toBe(true);
  expect(existsSync(join(copies, "google"))).toBe(false);
});

test("an empty folder name is a usage error", () => {
  const { status, stderr } = runSvcAccess(["init", ""], { cwd: folder });
  expect([status, stderr]).toEqual([
    2,
    "svc-access: the folder is empty: pass . for the working directory\n",
  ]);
});

test("a folder that cannot be written is a usage error", () => {
  writeFileSync(join(folder, "file"), "");
  const { status, stderr } = runSvcAccess(["init", "file"], { cwd: folder });
  expect(status).toBe(2);
  expect(stderr).toMatch(/^svc-access: file cannot be written: [^\n]*\n$/);
});

test("the next steps install packages that npx would otherwise confuse with others, and set the module type", () => {
  const bare = runSvcAccess(["init"], { cwd: folder }).stdout;
  expect(bare).toContain(
    "  npm init -y\n  npm pkg set type=module\n  npm install --save-dev svc-access @bufbuild/buf @bufbuild/protoc-gen-es typescript @types/node\n  npx buf lint\n",
  );
  installTools();
  installTypeScript("5.8.0");
  writeFileSync(
    join(folder, "package.json"),
    '{"type": "module", "devDependencies": {"typescript": "^5.8"}}',
  );
  const installed = runSvcAccess(["init"], { cwd: folder }).stdout;
  expect(installed).not.toContain("npm ");
  expect(installed).toContain("npx tsc\n");
});

test("the next steps of a service name the packages that it runs on, where they are absent", () => {
  const { stdout } = runSvcAccess(["init", "--service", "notes"], { cwd: folder });
  expect(stdout).toContain(
    "  npm install svc-access @bufbuild/protobuf\n  npm install --save-dev @bufbuild/buf @bufbuild/protoc-gen-es typescript @types/node\n",
  );
});

function install(name: string, version: string): void {
  const place = join(folder, "node_modules", name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "package.json"), JSON.stringify({ name, version }));
}

const installTypeScript = (version: string) => install("typescript", version);

/** What the commands and the service need beside TypeScript. */
function installTools(): void {
  for (const name of [
    "svc-access",
    "@bufbuild/protobuf",
    "@bufbuild/buf",
    "@bufbuild/protoc-gen-es",
  ])
    install(name, "1.0.0");
}

const INSTALL = "npm install --save-dev typescript @types/node\n";

test.each([
  { name: "of another package", asked: {}, version: "5.9.0", isStep: true },
  {
    name: "that is older than its options",
    asked: { devDependencies: { typescript: "^5" } },
    version: "5.4.5",
    isStep: true,
  },
  {
    name: "that is a dependency but not installed",
    asked: { dependencies: { typescript: "^7" } },
    version: undefined,
    isStep: true,
  },
  {
    name: "of the project",
    asked: { dependencies: { typescript: "^7" } },
    version: "7.0.2",
    isStep: false,
  },
])("the next steps with a TypeScript $name", ({ asked, version, isStep }) => {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", ...asked }));
  installTools();
  if (version !== undefined) installTypeScript(version);
  const { stdout } = runSvcAccess(["init"], { cwd: folder });
  expect(stdout.includes(INSTALL)).toBe(isStep);
});

test("a second service has its own folder, where the next steps run, as a module by the package.json above it", () => {
  writeFileSync(
    join(folder, "package.json"),
    '{"type": "module", "devDependencies": {"typescript": "^7"}}',
  );
  installTools();
  installTypeScript("7.0.2");
  const run = (place: string) =>
    runSvcAccess(["init", "--service", "payroll", place], { cwd: folder }).stdout;
  expect(run("payroll")).toContain("\nNext:\n  cd payroll\n  npx buf lint\n");
  expect(run("the other's one")).toContain("\n  cd 'the other'\\''s one'\n  npx buf lint\n");
});

test.each([
  {
    name: "an unrelated package",
    manifest: { type: "module", dependencies: { react: "^19" } },
    steps:
      "  cd bills\n  npm init -y\n  npm pkg set type=module\n  npm install svc-access @bufbuild/protobuf\n",
  },
  {
    name: "the root of npm workspaces",
    manifest: { workspaces: ["*"], dependencies: { "svc-access": "*" } },
    steps:
      "  cd bills\n  npm init -y\n  npm pkg set type=module\n  npm install svc-access @bufbuild/protobuf\n",
  },
  {
    name: "a package that uses svc-access",
    manifest: { devDependencies: { "svc-access": "*" } },
    steps:
      "  cd bills\n  npm pkg set --prefix .. type=module\n  npm install --prefix .. svc-access @bufbuild/protobuf\n",
  },
])(
  "a service below $name: the next steps change the package that is meant",
  ({ manifest, steps }) => {
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    const { stdout } = runSvcAccess(["init", "--service", "bills", "bills"], { cwd: folder });
    expect(stdout).toContain(steps);
  },
);

/** The last two digits of the ports of a service, which all of its files have. */
function digitsOf(place: string): string {
  const { server } = parse(readFileSync(join(folder, place, "service.yaml"), "utf8"));
  const { services } = parse(readFileSync(join(folder, place, "svc-access.yaml"), "utf8"));
  const [{ ports }] = Object.values<{ ports: Record<string, number> }>(services) as [
    { ports: Record<string, number> },
  ];
  const port = (name: string) => /:(\d+)\}$/.exec(server[name].address)?.[1] ?? "";
  const digits = port("http").slice(3);
  expect([port("http"), port("grpc"), port("metrics")]).toEqual(
    ["180", "190", "191"].map((first) => first + digits),
  );
  expect(ports).toEqual({ http: Number(`180${digits}`), grpc: Number(`190${digits}`) });
  return digits;
}

const initIn = (place: string, name = place) =>
  runSvcAccess(["init", "--service", name, place], { cwd: folder }).stdout;

test("a service has ports by its name, which the output says", () => {
  expect(initIn("notes")).toContain(
    "\nnotes listens on 18010 (HTTP), 19010 (gRPC) and 19110 (metrics)\n",
  );
  expect(digitsOf("notes")).toBe("10");
  const said = initIn("bills");
  expect(said).toContain(`\nbills listens on 180${digitsOf("bills")} (HTTP)`);
  expect(digitsOf("bills")).not.toBe("10");
  // The same again: nothing is written, and nothing is said.
  expect(initIn("bills")).not.toContain("listens on");
});

test("a service takes the next ports where one beside or above it in the repository has its own", () => {
  writeFileSync(join(folder, "package.json"), "{}");
  initIn("elsewhere", "notes");
  initIn("notes");
  expect([digitsOf("elsewhere"), digitsOf("notes")]).toEqual(["10", "11"]);
  // The configuration of a platform has the ports of all its services.
  writeFileSync(
    join(folder, "svc-access.yaml"),
    "services:\n  a: {packages: [a.v1], ports: {http: 18010}}\n  b: {ports: {grpc: 19011}}\n",
  );
  mkdirSync(join(folder, "services"));
  initIn("services/notes", "notes");
  expect(digitsOf("services/notes")).toBe("12");
});

test("a service that the configuration already has keeps the ports there", () => {
  mkdirSync(join(folder, "notes"));
  writeFileSync(
    join(folder, "notes/svc-access.yaml"),
    "services:\n  notes:\n    packages: [notes.v1]\n    ports: {http: 18033, grpc: 19033}\n",
  );
  initIn("notes");
  expect(digitsOf("notes")).toBe("33");
});

const templateOf = (out: string, own = out) =>
  `version: v2\nplugins:\n  - local: protoc-gen-es\n    out: ${out}\n  - local: protoc-gen-svc-access\n    out: ${own}\n`;

test.each([
  { out: "src/gen", source: "./gen", tests: "../src/gen", routes: "src/gen", include: [] },
  { out: "./made/ts/", source: "../made/ts", tests: "../made/ts", routes: "made/ts" },
  { out: "../made", source: "../../made", tests: "../../made", routes: "../made" },
  { out: "gen", source: "../gen", tests: "../gen", routes: "gen" },
])("the starter fits a buf.gen.yaml that generates into $out", ({ out, ...row }) => {
  writeFileSync(join(folder, "buf.gen.yaml"), templateOf(out));
  const { status } = runSvcAccess(["init", "--service", "notes"], { cwd: folder });
  expect(status).toBe(0);
  const text = (name: string) => readFileSync(join(folder, name), "utf8");
  expect(text("src/handlers.ts")).toContain(`from "${row.source}/notes/v1/notes_server.ts"`);
  expect(text("src/main.ts")).toContain(`import("${row.source}/notes/v1/notes_server.ts")`);
  for (const name of ["test/handlers.test.ts", "test/service.test.ts"]) {
    expect(text(name)).toContain(`from "${row.tests}/notes/v1/notes_pb.ts"`);
  }
  for (const name of ["src/main.ts", "test/service.test.ts"]) {
    expect(text(name)).toContain(`"${row.routes}/routes/notes.json"`);
  }
  const { include } = JSON.parse(text("tsconfig.json"));
  expect(include).toEqual([...(row.include ?? [row.routes]), "src", "test"]);
});

test("the starter declares no path: a probe that is declared is public at the edge", () => {
  expect(runSvcAccess(["init", "--service", "notes"], { cwd: folder }).status).toBe(0);
  const text = readFileSync(join(folder, "svc-access.yaml"), "utf8");
  expect(Object.keys(parse(text))).toEqual(["environment", "model", "services"]);
});

test.each([
  { out: "src", own: "src", message: "contains src, which buf generate may empty" },
  { out: ".", own: ".", message: "contains src, which buf generate may empty" },
  { out: "/tmp/gen", own: "/tmp/gen", message: "is not a valid path in an import" },
  { out: "gen", own: "other", message: "write the same out for both" },
])("the starter rejects the output folders $out and $own, and writes nothing", (row) => {
  writeFileSync(join(folder, "buf.gen.yaml"), templateOf(row.out, row.own));
  const { status, stderr } = runSvcAccess(["init", "--service", "notes"], {
    cwd: folder,
  });
  expect(status).toBe(2);
  expect(stderr).toContain(row.message);
  expect(existsSync(join(folder, "svc-access.yaml"))).toBe(false);
  expect(existsSync(join(folder, "third_party"))).toBe(false);
});

test.each([
  {
    name: "other plugins only",
    text: "version: v2\nplugins:\n  - local: protoc-gen-go\n    out: go\n",
    shown: ["local: protoc-gen-es\n    out: gen\n", "protoc-gen-svc-access\n    out: gen\n"],
    notShown: ["protoc-gen-go", "So that Node"],
  },
  {
    name: "protoc-gen-es with .js imports, in a separate folder",
    text: "version: v2\nplugins:\n  - local: [npx, protoc-gen-es]\n    out: src/gen\n    opt: target=ts,import_extension=js\n",
    shown: [
      "out: src/gen\n",
      "import_extension=js\n",
      "give npx protoc-gen-es the options import_extension=ts, erasable_syntax=true",
    ],
    notShown: ["local: protoc-gen-es"],
  },
  {
    name: "the remote plugin with all options",
    text: "version: v2\nplugins:\n  - remote: buf.build/bufbuild/es\n    out: gen\n    opt: [target=ts, import_extension=ts, erasable_syntax=true]\n",
    shown: ["protoc-gen-svc-access"],
    notShown: ["So that Node", "local: protoc-gen-es"],
  },
  {
    name: "ours",
    text: "version: v2\nplugins:\n  - local: protoc-gen-svc-access\n    out: gen\n",
    shown: ["buf.gen.yaml exists and stays unchanged"],
    notShown: ["Add to buf.gen.yaml"],
  },
])("a buf.gen.yaml with $name stays unchanged, and missing parts are shown", (row) => {
  writeFileSync(join(folder, "buf.gen.yaml"), row.text);
  const { status, stdout } = runSvcAccess(["init"], { cwd: folder });
  expect(status).toBe(0);
  expect(readFileSync(join(folder, "buf.gen.yaml"), "utf8")).toBe(row.text);
  for (const text of row.shown) expect(stdout).toContain(text);
  for (const text of row.notShown) expect(stdout).not.toContain(text);
});

test.each(["version: v1\n", "plugins: [", ""])(
  "a buf.gen.yaml of %j is refused, and nothing is written",
  (text) => {
    writeFileSync(join(folder, "buf.gen.yaml"), text);
    const { status, stderr } = runSvcAccess(["init"], { cwd: folder });
    expect(status).toBe(2);
    expect(stderr).toContain("buf.gen.yaml");
    expect(existsSync(join(folder, "third_party"))).toBe(false);
  },
);

test.each([
  ["a part without a value", "version: v2\nmodules:\nplugins:\nlint:\n  use:\n", []],
  [
    "flow style",
    "{version: v2, modules: [{path: api}], lint: {use: [STANDARD]}}\n",
    ["{ path: api }"],
  ],
  [
    "an alias",
    "version: v2\nmodules:\n  - path: api\n    lint: &l\n      use: [MINIMAL]\n      except: [A_B]\n  - path: web\n    lint: *l\n",
    ["lint:\n      use:\n        - MINIMAL\n        - ACCESS\n      except:"],
  ],
  [
    "a name",
    "version: v2\nname: buf.build/acme/x\n",
    ["- path: .\n    name: buf.build/acme/x\n", "remove name at the top"],
  ],
  ["a comment", "version: v2\nlint:\n  # why\n  use: [BASIC] # so\n", ["# why"]],
  [
    "rules of comparison",
    "version: v2\nmodules:\n  - path: api\n    breaking: {use: [WIRE]}\nbreaking:\n  use: [FILE]\n",
    [
      "breaking: { use: [ WIRE, ACCESS_BREAKING ] }",
      "breaking:\n  use:\n    - FILE\n    - ACCESS_BREAKING\n",
    ],
  ],
])(
  "the parts that a buf.yaml with %s lacks are valid YAML and keep its content",
  (_, text, shown) => {
    writeFileSync(join(folder, "buf.yaml"), text);
    const { stdout } = runSvcAccess(["init"], { cwd: folder });
    const parts = /Add to buf\.yaml:\n\n([\s\S]*?)\n\n(?:Next|and remove)/.exec(stdout)?.[1] ?? "";
    expect(parts).not.toMatch(/[&*]a\d/);
    const { modules, plugins, lint } = parse(parts);
    expect(modules).toContainEqual({
      path: "third_party/svc-access",
      lint: { ignore: ["third_party/svc-access"] },
      breaking: { ignore: ["third_party/svc-access"] },
    });
    expect(plugins).toEqual([
      { plugin: "buf-plugin-svc-access", options: { config: "svc-access.yaml" } },
    ]);
    expect(lint.use).toContain("ACCESS");
    for (const part of shown) expect(stdout).toContain(part);
  },
);
