/** What the package exports is documented, and its examples are true. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readEntries } from "../../scripts/entries.ts";
import { InstalledRepository } from "../support/installed-repository.ts";
import { ROOT } from "../support/workspace.ts";
import { codeOf, examplesOf, parseTypes, readTypes } from "./public-types.ts";

/** The types of the query builder, which `svc-access/database` exports, are documented by its authors. */
const OTHERS = "shared/kysely.d.ts";
const FILES = new Map([...readTypes(join(ROOT, "dist/types"))].filter(([name]) => name !== OTHERS));
const FROM_OTHERS: ReadonlySet<string> = new Set([
  "ColumnType",
  "Generated",
  "Insertable",
  "Kysely",
  "RawBuilder",
  "Selectable",
  "sql",
  "Transaction",
  "Updateable",
]);
const ITEMS = [...FILES.values()].flatMap(({ items }) => items);

/** The file of types of each entry, by what programs import. */
const ENTRIES: Readonly<Record<string, string>> = Object.fromEntries(
  [...readEntries(ROOT)]
    // Last: its messages have names that the runtime also has, which are meant in examples.
    .sort((a, b) => Number(a.name === "svc-access/iam") - Number(b.name === "svc-access/iam"))
    .map(({ name, file }) => [name, `${file}.d.ts`]),
);

function exportsOf(entry: string): readonly string[] {
  const file = FILES.get(entry);
  if (file === undefined) throw new Error(`there is no ${entry}`);
  return file.exports;
}

describe("what is missing is found", () => {
  test("of declarations and members, at any depth", () => {
    const { items, exports } = parseTypes(`
      /** Said. */
      interface Outer {
        /** Said. */
        readonly said: string;
        readonly missing: { readonly inner: number; readonly kind: "constant" };
        method(): { readonly returned: boolean };
        (): string;
      }
      declare class Open { #private; constructor(text: string); readonly name = "Open"; get size(): number; }
      /** Of something else. */ import { A } from "a";
      type Either = { readonly one: string; readonly other?: undefined };
      declare function call(): void;
      declare const found: { readonly out: number };
      export { type Outer, call as other };
    `);
    expect(items.filter(({ doc }) => doc === undefined).map(({ name }) => name)).toEqual([
      "Outer.missing",
      "Outer.missing.inner",
      "Outer.method",
      "Outer.method.returned",
      "Outer.()",
      "Open",
      "Open.constructor",
      "Open.size",
      "Either",
      "Either.one",
      "call",
      "found",
    ]);
    expect(items.filter(({ isFunction }) => isFunction).map(({ name }) => name)).toEqual(["call"]);
    expect(exports).toEqual(["Outer", "other"]);
  });

  test("and of examples, blocks that are not code", () => {
    const doc =
      "Text.\n\n@example\n```ts\nawait a();\n```\n\n@throws Error\n\n@example\nawait b();\n";
    const [first = "", second = "", ...more] = examplesOf(doc);
    expect(more).toEqual([]);
    expect(codeOf(first)).toBe("await a();");
    expect(codeOf(second)).toBeUndefined();
  });
});

describe("of all that users see", () => {
  test("each export is declared in a file that is read here", () => {
    const declared = new Set([...ITEMS.map(({ name }) => name), ...FROM_OTHERS]);
    const exported = Object.values(ENTRIES).flatMap(exportsOf);
    expect(exported.length).toBeGreaterThan(100);
    expect(exported.filter((name) => !declared.has(name))).toEqual([]);
  });

  test("each declaration and each member has a doc comment", () => {
    expect(ITEMS.length).toBeGreaterThan(500);
    expect(ITEMS.filter(({ doc }) => !doc).map(({ name }) => name)).toEqual([]);
  });

  test("nothing is internal", () => {
    const internal = ITEMS.filter(({ doc = "" }) => doc.includes("@internal"));
    expect(internal.map(({ name }) => name)).toEqual([]);
  });

  test("each function has an example", () => {
    const functions = ITEMS.filter(({ isFunction }) => isFunction);
    expect(functions.length).toBeGreaterThan(20);
    const without = functions.filter(({ doc = "" }) => examplesOf(doc).length === 0);
    expect(without.map(({ name }) => name)).toEqual([]);
  });
});

describe("the examples", () => {
  const examples = ITEMS.flatMap(({ name, doc = "" }) =>
    examplesOf(doc).map((example, index) => ({ name: `${name}-${index + 1}`, example })),
  );

  test("are fenced blocks of TypeScript", () => {
    const others = examples.filter(({ example }) => codeOf(example) === undefined);
    expect(others.map(({ name }) => name)).toEqual([]);
  });

  test("compile against the exports, the generated code and the pages of the notes service", () => {
    using repo = new InstalledRepository({
      "tsconfig.json": JSON.stringify(CONFIG),
      "given.ts": GIVEN,
    });
    for (const folder of ["gen", "src"]) {
      cpSync(join(ROOT, "examples/notes", folder), join(repo.folder, folder), { recursive: true });
    }
    const head = importsOf();
    for (const { name, example } of examples) {
      // In a function, since an example may declare what it is otherwise given.
      const code = `export async function example() {\n${codeOf(example) ?? ""}\n}\n`;
      repo.write(`examples/${name}.ts`, `${head}\n${code}`);
    }
    expect(repo.run("tsc", "--pretty", "false").stdout).toBe("");
  });
});

const CONFIG = {
  compilerOptions: {
    target: "ES2023",
    module: "NodeNext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  },
  include: ["examples"],
};

/** What examples are about, beside the code of the notes service. */
const GIVEN = `
import type { EventEmitter } from "node:events";
import type { AuthorizationEngine, parseModel, RelationshipUpdate } from "svc-access/authz";
import type { ServiceDatabase, ServiceMigration } from "svc-access/database";
import type {
  AuditLog,
  CallContext,
  CallHeaders,
  LoadedServiceConfig,
  ProcessLogger,
  ServiceBinding,
  ServiceClient,
  StandardSchema,
} from "svc-access/runtime";
import type { NotesService } from "./gen/notes/v1/notes_pb.ts";

export declare const bindings: readonly ServiceBinding[];
export declare const changes: EventEmitter;
export declare const configuration: LoadedServiceConfig;
export declare const context: CallContext;
export declare const createTopics: ServiceMigration;
export declare const database: ServiceDatabase<Tables>;
export declare const engine: AuthorizationEngine;
export declare const headers: CallHeaders;
export declare const log: AuditLog;
export declare const logger: ProcessLogger;
export declare const model: ReturnType<typeof parseModel>["model"];
export declare const notes: ServiceClient<typeof NotesService>;
export declare const notesSchema: StandardSchema<unknown, { readonly max_items: number }>;
export declare const signal: AbortSignal;
export declare const updates: readonly RelationshipUpdate[];
export declare const value: string;
export interface Tables {
  topics: { id: string; name: string };
}
`;

/** The imports of each example: all that one may use. */
function importsOf(): string {
  const taken = new Set<string>();
  const own = Object.entries(ENTRIES).map(([module, file]) => {
    const names = exportsOf(file).filter((name) => !taken.has(name));
    for (const name of names) taken.add(name);
    return `import { ${names.join(", ")} } from "${module}";`;
  });
  const given = [...GIVEN.matchAll(/declare const (\w+)/g)].map(([, name]) => name);
  return [
    ...own,
    'import assert from "node:assert/strict";',
    'import { on } from "node:events";',
    'import { createWriteStream, readFileSync } from "node:fs";',
    'import http from "node:http";',
    'import { pipeline } from "node:stream/promises";',
    'import { create } from "@bufbuild/protobuf";',
    'import { anyPack } from "@bufbuild/protobuf/wkt";',
    'import { GetVersionResponseSchema, NotesService, SetItemRequestSchema } from "../gen/notes/v1/notes_pb.ts";',
    'import { bindNotesService, type NotesServiceHandlers, NotesServiceRoutes } from "../gen/notes/v1/notes_server.ts";',
    'import { handlers } from "../src/handlers.ts";',
    `import { ${given.join(", ")}, type Tables } from "../given.ts";`,
  ].join("\n");
}
