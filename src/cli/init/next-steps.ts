import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { shellWord } from "../../common/shell-word.ts";

const SERVICES_NEED = 24;
/** The first TypeScript version with every option of the `tsconfig.json` that `init` writes. */
const TYPESCRIPT_NEEDS = [5, 8] as const;

/** The next steps of the user. */
export function nextSteps(folder: string, root: string, service: string | undefined): string {
  const steps = ["npx buf lint", "npx buf generate", "npx tsc"];
  const installs = installSteps(folder, service !== undefined);
  const above = sharedPackage(folder, installs.length > 0, service !== undefined);
  // npm would find it by itself, and change it unnoticed.
  const prefix = above === "" ? "" : ` --prefix ${shellWord(above)}`;
  steps.unshift(...installs.map((step) => step.replace("npm install", `npm install${prefix}`)));
  const isNew = above === "" && !existsSync(join(folder, "package.json"));
  // Node.js treats generated code as modules only with this type.
  if (isNew || !isModule(folder)) steps.unshift(`npm pkg set${prefix} type=module`);
  if (isNew) steps.unshift("npm init -y");
  const below = relative(process.cwd(), resolve(folder)).split(sep).join("/");
  if (below !== "") steps.unshift(`cd ${shellWord(below)}`);
  if (service !== undefined) steps.push("node --test", "node src/main.ts");
  const lines = steps.map((step) => `  ${step}\n`).join("");
  const where = root === "." ? "" : ` below ${root}/`;
  const first = service === undefined ? ` write protos${where}, then` : "";
  return `\nNext:${first}\n${lines}${olderNode()}`;
}

/**
 * The folder of the package above that a folder without a `package.json` belongs to, relative to it; empty
 * if it is, or becomes, a package of its own. A service does not become part of an unrelated package, or of
 * the root of npm workspaces.
 */
function sharedPackage(folder: string, installs: boolean, isService: boolean): string {
  const path = nearestManifest(folder);
  const above = path === undefined ? "" : relative(resolve(folder), dirname(path));
  if (path === undefined || above === "" || !isService) return above.split(sep).join("/");
  const { workspaces, dependencies, devDependencies } = manifest(path);
  const isUser = [dependencies, devDependencies].some((names) => hasName(names, "svc-access"));
  const isShared = workspaces === undefined && (isUser || !installs);
  return isShared ? above.split(sep).join("/") : "";
}

/**
 * The installation of packages that the steps need, for example after `npx svc-access init` in an empty folder.
 * Otherwise, npx would download unrelated packages named buf and tsc.
 */
function installSteps(folder: string, isService: boolean): string[] {
  const isAbsent = (name: string) =>
    !foldersUp(folder).some((place) =>
      existsSync(join(place, "node_modules", name, "package.json")),
    );
  const needed = isService ? ["svc-access", "@bufbuild/protobuf"] : [];
  const tools = ["@bufbuild/buf", "@bufbuild/protoc-gen-es"];
  const absent = (isService ? tools : ["svc-access", ...tools]).filter(isAbsent);
  if (!hasTypeScript(folder)) absent.push("typescript", "@types/node");
  return [
    { command: "npm install", names: needed.filter(isAbsent) },
    { command: "npm install --save-dev", names: absent },
  ]
    .filter(({ names }) => names.length > 0)
    .map(({ command, names }) => `${command} ${names.join(" ")}`);
}

/** The compiler runs on Node.js 20, but generated services do not. */
function olderNode(): string {
  const major = Number.parseInt(process.versions.node, 10);
  if (major >= SERVICES_NEED) return "";
  return `\nThis is Node ${process.versions.node}. Services and their tests need Node ${SERVICES_NEED} or later.\n`;
}

/** Whether the project itself depends on TypeScript: a copy of another package may have any version. */
function hasTypeScript(folder: string): boolean {
  const places = foldersUp(folder);
  const isAsked = places.some((place) => {
    const { dependencies, devDependencies } = manifest(join(place, "package.json"));
    return [dependencies, devDependencies].some((names) => hasName(names, "typescript"));
  });
  const installed = places
    .map((place) => join(place, "node_modules/typescript/package.json"))
    .find((path) => existsSync(path));
  return isAsked && installed !== undefined && isRecent(manifest(installed)["version"]);
}

function hasName(dependencies: unknown, name: string): boolean {
  return typeof dependencies === "object" && dependencies !== null && name in dependencies;
}

function isRecent(version: unknown): boolean {
  const [major = 0, minor = 0] = `${version}`.split(".").map((part) => Number.parseInt(part, 10));
  const [leastMajor, leastMinor] = TYPESCRIPT_NEEDS;
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** As in Node.js, the nearest `package.json` decides. */
function isModule(folder: string): boolean {
  const nearest = nearestManifest(folder);
  return nearest !== undefined && manifest(nearest)["type"] === "module";
}

function nearestManifest(folder: string): string | undefined {
  return foldersUp(folder)
    .map((place) => join(place, "package.json"))
    .find((path) => existsSync(path));
}

function foldersUp(folder: string): string[] {
  const places = [resolve(folder)];
  for (let place = places[0] as string; dirname(place) !== place; ) {
    place = dirname(place);
    places.push(place);
  }
  return places;
}

/** The manifest at a path; empty if it cannot be read. */
function manifest(path: string): Readonly<Record<string, unknown>> {
  try {
    const content: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof content === "object" && content !== null ? { ...content } : {};
  } catch {
    return {};
  }
}
