import { resolve } from "node:path";

const ROOT = new URL("..", import.meta.url).pathname;

/** A file in the folder that `DATA` names; it is relative to this project, as in its configuration. */
export function dataFile(name: string): string {
  return resolve(ROOT, process.env["DATA"] ?? "data", name);
}
