import { type Document, isMap, isSeq, type Pair, type YAMLMap, type YAMLSeq } from "yaml";
import { COPIES } from "./shipped-protos.ts";
import type { Workspace } from "./workspace.ts";

const PLUGIN = "buf-plugin-svc-access";
const NAME_MOVES = "\nand remove name at the top, which is now the module's.\n";
const RULES = ["STANDARD", "ACCESS"];
const BREAKING = "ACCESS_BREAKING";

/** How `buf.yaml` names the check plugin. */
type PluginCommand = string | string[];

/** The `buf.yaml` of a repository that has none. */
export function newBufYaml(
  { own, imported, annotation }: Workspace,
  plugin: PluginCommand,
): string {
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
  - plugin: ${typeof plugin === "string" ? plugin : JSON.stringify(plugin)}
    options:
      config: svc-access.yaml
lint:
  use:
${RULES.map((rule) => `    - ${rule}\n`).join("")}breaking:
  use:
    - FILE
    - ${BREAKING}
`;
}

function without(part: string, path: string): string {
  return `    ${part}:\n      ignore:\n        - ${path}\n`;
}

function isBelow(path: string, folder: string): boolean {
  return path !== folder && (folder === "." || path.startsWith(`${folder}/`));
}

/**
 * The parts of the `buf.yaml` of a repository that must change, each in full, with their present
 * content.
 *
 * @returns empty text if nothing must change
 */
export function additionsToBufYaml(
  { bufYaml, annotation }: Workspace,
  plugin: PluginCommand,
): string {
  if (bufYaml === undefined) return "";
  const before = bufYaml.clone() as Document;
  const after = bufYaml.clone() as Document;
  if (annotation === undefined) addModule(after);
  addPlugin(after, plugin);
  addRules(after);
  const changed = (after.contents as YAMLMap).items.filter(({ key }: Pair) => {
    const old = before.has(key) ? JSON.stringify(before.toJS()[String(key)]) : undefined;
    return JSON.stringify(after.toJS()[String(key)]) !== old;
  });
  const removed = before.has("name") && !after.has("name") ? NAME_MOVES : "";
  return changed
    .map(({ key, value }) => after.createNode({ [String(key)]: value }))
    .map((part) => {
      const document = after.clone() as Document;
      document.contents = part as never;
      document.commentBefore = null;
      document.comment = null;
      return document.toString();
    })
    .join("")
    .concat(removed);
}

function addModule(document: Document): void {
  if (!isSeq(document.get("modules"))) {
    // The name at the top is that of the only module; of several modules, each has its own name.
    const name = document.get("name");
    const root = { path: ".", ...(typeof name === "string" && { name }) };
    document.set("modules", document.createNode([root]));
    document.delete("name");
  }
  const modules = document.get("modules") as YAMLSeq<YAMLMap>;
  for (const module of modules.items) {
    if (!isMap(module) || (module.get("path") ?? ".") !== ".") continue;
    const excludes = (module.toJSON() as { excludes?: string[] }).excludes ?? [];
    module.set("excludes", [...new Set([...excludes, "node_modules", COPIES])]);
  }
  const module = { path: COPIES, lint: { ignore: [COPIES] }, breaking: { ignore: [COPIES] } };
  modules.add(document.createNode(module) as never);
}

function addPlugin(document: Document, command: PluginCommand): void {
  const plugins: unknown = document.toJS().plugins;
  if (JSON.stringify(plugins ?? []).includes(PLUGIN)) return;
  if (!isSeq(document.get("plugins"))) document.set("plugins", document.createNode([]));
  const plugin = { plugin: command, options: { config: "svc-access.yaml" } };
  (document.get("plugins") as YAMLSeq).add(document.createNode(plugin));
}

/** The rules of a module replace those of the workspace. */
function addRules(document: Document): void {
  const { modules, ...workspace } = document.toJS() as Rules & { modules?: unknown };
  addRulesTo(document, [], workspace.lint);
  addBreakingTo(document, [], workspace.breaking);
  if (!Array.isArray(modules)) return;
  modules.forEach((module: (Rules & { path?: string }) | null, index) => {
    const isIgnored = (part: Lint) => part.ignore?.includes(module?.path ?? ".") === true;
    const place = ["modules", index];
    if (module?.lint != null && !isIgnored(module.lint)) addRulesTo(document, place, module.lint);
    if (module?.breaking != null && !isIgnored(module.breaking)) {
      addBreakingTo(document, place, module.breaking);
    }
  });
}

interface Rules {
  readonly lint?: Lint | null;
  readonly breaking?: Lint | null;
}

interface Lint {
  readonly use?: unknown;
  readonly ignore?: readonly string[];
}

/** If no rules are listed, those of the plugin run by default. */
function addBreakingTo(
  document: Document,
  place: readonly (string | number)[],
  breaking?: Lint | null,
): void {
  const use = breaking?.use;
  if (!Array.isArray(use) || use.some((rule) => `${rule}`.startsWith("ACCESS_"))) return;
  const rules = document.createNode([...use, BREAKING]);
  const path = [...place, "breaking"];
  if (isMap(document.getIn(path))) document.setIn([...path, "use"], rules);
  else document.setIn(path, document.createNode({ ...breaking, use: [...use, BREAKING] }));
}

function addRulesTo(document: Document, place: readonly (string | number)[], lint?: Lint | null) {
  const use = Array.isArray(lint?.use) ? lint.use : [RULES[0]];
  if (use.some((rule) => /^ACCESS(?:_|$)/.test(`${rule}`))) return;
  const rules = [...use, "ACCESS"];
  const path = [...place, "lint"];
  // Changing the map keeps its comments. An alias is expanded, since another module uses it, too.
  if (isMap(document.getIn(path))) document.setIn([...path, "use"], document.createNode(rules));
  else document.setIn(path, document.createNode({ ...lint, use: rules }));
}

const NAME = "buf-plugin-svc-access";

/**
 * How `buf.yaml` names the check plugin: a program on PATH, or a program and its arguments.
 *
 * On Windows, npm starts a program with the interpreter in its first line, here a shell, which few
 * machines have. Node.js can run the same file.
 *
 * @param installed - where this package is installed, relative to the repository
 */
export function checkPluginCommand(
  installed: string,
  platform: NodeJS.Platform = process.platform,
): string | string[] {
  return platform === "win32" ? ["node", `${installed}/bin/${NAME}`] : NAME;
}
