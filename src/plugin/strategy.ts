import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { Target } from "../compiler/generate.ts";
import { UsageError } from "../compiler/usage-error.ts";

/** The most folders and files that are looked at. */
const MAX_ENTRIES = 5000;

/**
 * Refuses a run that sees only a part of the module.
 *
 * By default buf starts a plugin once for each folder of protos. An output that
 * spans files would then be made several times, each time with a part, and buf
 * keeps one of them. From inside, such a run looks like that of a module with
 * one folder, so the templates of the working folder are asked.
 *
 * @throws UsageError where the run is one of several.
 */
export function checkStrategy(
  filesToGenerate: readonly string[],
  targets: readonly Target[],
  folder: string,
): void {
  if (!targets.some((target) => target !== "server")) return;
  const [first] = filesToGenerate;
  const directory = posix.dirname(first ?? "");
  if (filesToGenerate.some((file) => posix.dirname(file) !== directory)) return;
  if (!usesDirectoryStrategy(folder)) return;
  const other = otherAnnotatedFile(folder, new Set(filesToGenerate), directory);
  if (other === undefined) return;
  throw new UsageError(
    `buf runs this plugin once for each folder, so that it sees ${directory} without ${other}; write strategy: all beside it in buf.gen.yaml`,
  );
}

function usesDirectoryStrategy(folder: string): boolean {
  try {
    const template = readFileSync(join(folder, "buf.gen.yaml"), "utf8");
    // One entry a plugin; the one that names this plugin must set the strategy.
    const entries = template.split(/^\s*-\s+(?=local:|remote:|protoc_builtin:|plugin:|name:)/m);
    const own = entries.filter((entry) => /svc-access/.test(entry.split("\n", 3).join("\n")));
    return own.length > 0 && own.some((entry) => !/^\s*strategy:\s*['"]?all\b/m.test(entry));
  } catch {
    return false;
  }
}

/** An annotated file of the folder that the request does not name, in another folder of protos. */
function otherAnnotatedFile(
  folder: string,
  requested: ReadonlySet<string>,
  directory: string,
): string | undefined {
  const pending = [folder];
  let entries = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const entry of readEntries(next)) {
      if (++entries > MAX_ENTRIES) return undefined;
      const path = join(next, entry.name);
      if (entry.isDirectory()) {
        if (!entry.name.startsWith(".") && entry.name !== "node_modules") pending.push(path);
      } else if (entry.name.endsWith(".proto") && isOther(path, requested, directory)) {
        return path.slice(folder.length + 1);
      }
    }
  }
  return undefined;
}

function readEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isOther(path: string, requested: ReadonlySet<string>, directory: string): boolean {
  const unix = path.replaceAll("\\", "/");
  if ([...requested].some((file) => unix.endsWith(`/${file}`))) return false;
  if (posix.dirname(unix).endsWith(`/${directory}`)) return false;
  try {
    return readFileSync(path, "utf8").includes("svc.access.v1.policy");
  } catch {
    return false;
  }
}
