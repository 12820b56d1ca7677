import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const SERVICES_NEED = 24;

/** What the user does next. */
export function nextSteps(folder: string, root: string, service: string | undefined): string {
  const steps = ["npx buf lint", "npx buf generate", "npx tsc"];
  // npx would fetch a package called tsc, which is somebody else's.
  if (!isInstalled(folder, "typescript")) {
    steps.unshift("npm install --save-dev typescript @types/node");
  }
  // Node takes the imports of generated code for those of a module only there.
  if (!isModule(join(folder, "package.json"))) steps.unshift("npm pkg set type=module");
  if (service !== undefined) steps.push("node --test", "node src/main.ts");
  const lines = steps.map((step) => `  ${step}\n`).join("");
  const where = root === "." ? "" : ` below ${root}/`;
  const first = service === undefined ? ` write protos${where}, then` : "";
  return `\nNext:${first}\n${lines}${olderNode()}`;
}

/** The compiler runs on Node 20; the service that it makes does not. */
function olderNode(): string {
  const major = Number.parseInt(process.versions.node, 10);
  if (major >= SERVICES_NEED) return "";
  return `\nThis is Node ${process.versions.node}. Services and their tests need Node ${SERVICES_NEED} or later.\n`;
}

function isInstalled(folder: string, name: string): boolean {
  for (let place = resolve(folder); ; place = dirname(place)) {
    if (existsSync(join(place, "node_modules", name))) return true;
    if (dirname(place) === place) return false;
  }
}

function isModule(path: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
    return (manifest as { type?: unknown } | null)?.type === "module";
  } catch {
    return false;
  }
}
