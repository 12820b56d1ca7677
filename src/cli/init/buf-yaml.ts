import { type Document, isMap, isSeq, type Pair, type YAMLMap, type YAMLSeq } from "yaml";
import { COPIES } from "./shipped-protos.ts";
import type { Workspace } from "./workspace.ts";

const PLUGIN = "buf-plugin-svc-access";
const RULES = ["STANDARD", "ACCESS"];

/** The `buf.yaml` of a repository that has none. */
export function newBufYaml({ own, imported, annotation }: Workspace): string {
  const others = annotation === undefined ? [...imported, COPIES] : [...imported, annotation];
  const modules = [
    ...own.map((path) => {
      const excluded = [...own, ...others].filter((other) => isBelow(other, path));
      if (path === ".") excluded.unshift("node_modules");
      const excludes = excluded.map((one) => `      - ${one}\n`).join("");
      return `  - path: ${path}\n${excludes === "" ? "" : `    excludes:\n${excludes}`}`;
    }),
    ...others
      .filter((path) => !own.includes(path))
      .map((path) => `  - path: ${path}\n${without("lint", path)}${without("breaking", path)}`),
  ];
  return `version: v2
modules:
${modules.join("")}plugins:
  - plugin: ${PLUGIN}
    options:
      config: svc-access.yaml
lint:
  use:
${RULES.map((rule) => `    - ${rule}\n`).join("")}breaking:
  use:
    - FILE
`;
}

function without(part: string, path: string): string {
  return `    ${part}:\n      ignore:\n        - ${path}\n`;
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && (folder === "." || path.startsWith(`${folder}/`));
}

/**
 * What the `buf.yaml` of a repository lacks: each of its parts that must change, whole, with what it
 * has already.
 *
 * @returns nothing where it lacks nothing
 */
export function additionsToBufYaml({ bufYaml, annotation }: Workspace): string {
  if (bufYaml === undefined) return "";
  const before = bufYaml.clone() as Document;
  const after = bufYaml.clone() as Document;
  if (annotation === undefined) addModule(after);
  addPlugin(after);
  addRules(after);
  const changed = (after.contents as YAMLMap).items.filter(({ key }: Pair) => {
    const old = before.has(key) ? JSON.stringify(before.toJS()[String(key)]) : undefined;
    return JSON.stringify(after.toJS()[String(key)]) !== old;
  });
  return changed
    .map(({ key, value }) => after.createNode({ [String(key)]: value }))
    .map((part) => {
      const document = after.clone() as Document;
      document.contents = part as never;
      document.commentBefore = null;
      document.comment = null;
      return document.toString();
    })
    .join("");
}

function addModule(document: Document): void {
  if (!isSeq(document.get("modules")))
    document.set("modules", document.createNode([{ path: "." }]));
  const modules = document.get("modules") as YAMLSeq<YAMLMap>;
  for (const module of modules.items) {
    if (!isMap(module) || (module.get("path") ?? ".") !== ".") continue;
    const excludes = (module.toJSON() as { excludes?: string[] }).excludes ?? [];
    module.set("excludes", [...new Set([...excludes, "node_modules", COPIES])]);
  }
  const ignore = { ignore: [COPIES] };
  modules.add(document.createNode({ path: COPIES, lint: ignore, breaking: ignore }) as never);
}

function addPlugin(document: Document): void {
  const plugins: unknown = document.toJS().plugins;
  if (JSON.stringify(plugins ?? []).includes(PLUGIN)) return;
  if (!isSeq(document.get("plugins"))) document.set("plugins", document.createNode([]));
  const plugin = { plugin: PLUGIN, options: { config: "svc-access.yaml" } };
  (document.get("plugins") as YAMLSeq).add(document.createNode(plugin));
}

/** The rules of a module stand in place of those of the workspace. */
function addRules(document: Document): void {
  addRulesTo(document, document);
  const modules = document.get("modules");
  if (!isSeq(modules)) return;
  for (const module of modules.items) {
    if (!isMap(module) || !module.has("lint")) continue;
    const { path, lint } = module.toJSON() as { path?: string; lint?: { ignore?: string[] } };
    if (!lint?.ignore?.includes(path ?? ".")) addRulesTo(module as YAMLMap, document);
  }
}

function addRulesTo(place: Document | YAMLMap, document: Document): void {
  const lint = (place.toJSON() as { lint?: { use?: unknown } | null }).lint;
  const use = Array.isArray(lint?.use) ? lint.use : [RULES[0]];
  if (use.some((rule) => /^ACCESS(?:_|$)/.test(`${rule}`))) return;
  const path = isMap(place.get("lint")) ? ["lint", "use"] : ["lint"];
  const rules = [...use, "ACCESS"];
  place.setIn(path, document.createNode(path.length === 2 ? rules : { use: rules }));
}
