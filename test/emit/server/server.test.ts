/** Server stubs of protos with difficult names. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BIN, runProgram } from "../../support/programs.ts";
import { ROOT, Workspace } from "../../support/workspace.ts";

const PUBLIC = "{ option (svc.access.v1.policy).exposure = PUBLIC; }";

/** Messages with names that the stubs import or declare, reserved words, and clashes. */
const FILES = {
  "names/v1/names.proto": `syntax = "proto3";
package names.v1;
import "google/protobuf/empty.proto";
import "names/v1/other.proto";
import "svc/access/v1/policy.proto";
// Ends a comment: */ and continues.
service NamesService {
  // Not the end: */ of it.
  // \`code\` and \\u0001.
  rpc constructor(Promise) returns (UnaryHandler) ${PUBLIC}
  rpc __proto__(Object) returns (google.protobuf.Empty) ${PUBLIC}
  rpc delete(NamesServiceHandlers) returns (ServiceBinding) ${PUBLIC}
  // buf:lint:ignore ACCESS_AUTHZ_WRITE
  rpc ToString(Foo.Bar) returns (Foo_Bar) ${PUBLIC}
  // Watches. See the guide of buf.
  //
  // buf:lint:ignore ACCESS_AUTHZ_WRITE
  // buf:lint:ignore ACCESS_AUDIT_WRITE
  rpc Watch(names.v1.other.Promise) returns (stream HttpRoute) ${PUBLIC}
  rpc Push(stream NamesServicePolicies) returns (MessageInitShape) ${PUBLIC}
  rpc Chat(stream package) returns (stream interface) { option deprecated = true; option (svc.access.v1.policy).exposure = PUBLIC; }
}
service Empty {}
message Promise {}
message UnaryHandler {}
message Object {}
message NamesServiceHandlers {}
message ServiceBinding {}
message Foo { message Bar {} map<string, Bar> bars = 1; }
message Foo_Bar {}
message HttpRoute {}
message NamesServicePolicies {}
message MessageInitShape {}
message package {}
message interface {}
`,
  "names/v1/other.proto": `syntax = "proto3";
package names.v1.other;
message Promise {}
`,
  "no-package.proto": `edition = "2023";
import "svc/access/v1/policy.proto";
message Request {}
service Root { rpc Get(Request) returns (Request) ${PUBLIC} }
`,
};

test("they type-check in strict mode, with any names [COMP-8]", () => {
  using workspace = new Workspace(FILES);
  workspace.write(
    "buf.gen.yaml",
    `version: v2
inputs: [{directory: proto}]
plugins:
  - {local: protoc-gen-es, out: gen, include_imports: true, opt: [target=ts, import_extension=js]}
  - {local: protoc-gen-svc-access, out: gen, strategy: all, opt: [import_extension=js]}
`,
  );
  const { status, stderr } = runProgram("buf", ["generate"], { cwd: workspace.folder });
  expect(status, stderr).toBe(0);
  const stubs = readFileSync(join(workspace.folder, "gen/names/v1/names_server.ts"), "utf8");
  // Directives of linters are not for those who read the handlers.
  expect(stubs).not.toMatch(/buf:lint|\/\*\*\s*\*\//);
  expect(stubs).toContain("  /** Watches. See the guide of buf. */\n  watch:");
  const modules = join(workspace.folder, "node_modules");
  mkdirSync(join(modules, "svc-access"), { recursive: true });
  for (const name of ["package.json", "dist"]) {
    symlinkSync(join(ROOT, name), join(modules, "svc-access", name));
  }
  symlinkSync(join(ROOT, "node_modules/@bufbuild"), join(modules, "@bufbuild"));
  writeFileSync(join(workspace.folder, "package.json"), '{"type": "module"}');
  writeFileSync(
    join(workspace.folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "ES2022",
        module: "NodeNext",
        moduleResolution: "NodeNext",
        types: [],
        strict: true,
        noUnusedLocals: true,
        exactOptionalPropertyTypes: true,
        verbatimModuleSyntax: true,
        isolatedDeclarations: true,
        declaration: true,
        noEmit: true,
        skipLibCheck: true,
      },
      include: ["gen/names", "gen/*.ts"],
    }),
  );
  expect(runProgram(join(BIN, "tsc"), ["-p", "."], { cwd: workspace.folder })).toMatchObject({
    stdout: "",
    status: 0,
  });
});
