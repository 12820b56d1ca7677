/**
 * Fails if a folder of `src` imports upwards, also by the name of this package, imports form a
 * cycle, a folder is too large, or a service imports more than a service in a repository of its own could.
 */
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parseSync } from "rolldown/utils";
import { readEntries } from "./entries.ts";
import { findProblems, findTangles, importsUpwards, largeFolders } from "./layers/find-problems.ts";
import { RULES } from "./layers/layers.ts";
import { findServiceProblems, ownImports, type ServiceImports } from "./layers/service-imports.ts";

const root = join(import.meta.dirname, "..");
const RELATIVE_IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*"(\.{1,2}\/[^"]+)"/g;

const entries = readEntries(root);
const sources = new Map(entries.map(({ name, source }) => [name, source]));
const imports = new Map(filesOf("src").map((file) => [file, importsOf(file)]));
const services = globSync("services/*/package.json", { cwd: root }).sort().map(readService);
const tests = [...filesOf("test"), ...filesOf("services/*/test")];
const messages = [
  ...findProblems(imports, RULES),
  ...largeFolders(tests, RULES),
  ...services.flatMap((service) => {
    const own = ownImports(service);
    return [
      ...findServiceProblems(service, [...sources.keys()]),
      ...importsUpwards(own, RULES),
      ...findTangles(own, RULES),
    ];
  }),
];
for (const message of messages) console.error(message);
if (messages.length > 0) process.exitCode = 1;

function filesOf(folder: string): string[] {
  const files = globSync(`${folder}/**/*.ts`, {
    cwd: root,
    exclude: (name) => name === "node_modules",
  });
  return files.map((file) => file.replaceAll("\\", "/")).sort();
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = [...text.matchAll(RELATIVE_IMPORT)].map(([, path = ""]) =>
    posix.join(posix.dirname(file), path),
  );
  // Generated code imports this package by its name, and the starter has such code as text.
  const named = text.includes('"svc-access') ? allImportsOf(file) : [];
  return [...new Set([...found, ...named.flatMap((name) => sources.get(name) ?? [])])];
}

function readService(manifest: string): ServiceImports {
  const folder = posix.dirname(manifest.replaceAll("\\", "/"));
  return {
    folder,
    imports: new Map(filesOf(folder).map((file) => [file, allImportsOf(file)])),
    packages: Object.keys(readJson(manifest).dependencies ?? {}),
    testPackages: Object.keys(readJson(manifest).devDependencies ?? {}),
  };
}

/** All imports as they are written; those of `src` are found without reading its syntax, which takes longer. */
function allImportsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const { module, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const { staticImports, staticExports, dynamicImports } = module;
  const names = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    // A computed name is kept, and is not a package.
    ...dynamicImports.map(({ moduleRequest: { start, end } }) =>
      text.slice(start, end).replace(/^(["'`])(.*)\1$/s, "$2"),
    ),
  ];
  return [...new Set(names)];
}

interface Manifest {
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

function readJson(file: string): Manifest {
  return JSON.parse(readFileSync(join(root, file), "utf8"));
}
