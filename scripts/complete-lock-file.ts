/**
 * Completes `package-lock.json`, so that `npm ci` accepts it on Linux, macOS and Windows. Run it after
 * an `npm install` that changed the lock file.
 *
 * npm only writes optional packages of other platforms that its registry serves, and a registry may
 * mirror only some platforms; `npm ci` then rejects the lock file as incomplete, on every platform. No
 * option of npm changes that. So this script adds the missing packages, with the versions that their
 * dependents require, and their integrity if the registry now has it.
 */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

interface Entry {
  readonly version?: string;
  readonly link?: boolean;
  integrity?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const path = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, Entry> };
const added: string[] = [];
for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (
      `node_modules/${name}` in lock.packages ||
      `${place}/node_modules/${name}` in lock.packages
    ) {
      continue;
    }
    lock.packages[`node_modules/${name}`] = {
      version,
      ...platformOf(name),
      ...(entry.dev === true ? { dev: true } : {}),
      optional: true,
    } as Entry;
    added.push(name);
  }
}
const unverified = Object.entries(lock.packages).filter(
  // Not the workspaces, whose names anybody may have in the registry.
  ([place, { integrity, link }]) =>
    place.includes("node_modules/") && link !== true && integrity === undefined,
);
await Promise.all(
  unverified.map(async ([place, entry]) => {
    const integrity = await integrityOf(place.replace(/^.*node_modules\//, ""), entry.version);
    if (integrity !== undefined) entry.integrity = integrity;
  }),
);
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([left], [right]) => (left < right ? -1 : 1)),
);
writeFileSync(path, `${JSON.stringify(lock, undefined, 2)}\n`);
process.stdout.write(added.length === 0 ? "nothing is missing\n" : `added ${added.join(", ")}\n`);

/** The integrity of a package in the registry; undefined if the registry does not have it. */
function integrityOf(name: string, version = ""): Promise<string | undefined> {
  const args = ["view", `${name}@${version}`, "dist.integrity"];
  return new Promise((resolve) =>
    execFile("npm", args, (error, stdout) =>
      resolve(error ? undefined : stdout.trim() || undefined),
    ),
  );
}

/** The platform that the name of a package ends in: `@biomejs/cli-darwin-arm64`. */
function platformOf(name: string): { os?: string[]; cpu?: string[]; libc?: string[] } {
  const match =
    /(android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|aix|win32|wasm32)-([a-z0-9]+)/.exec(
      name,
    );
  if (match?.[1] === undefined || match[2] === undefined) return {};
  const cpu = { aarch64: "arm64", armv7: "arm" }[match[2]] ?? match[2];
  const libc = name.endsWith("-musl") ? { libc: ["musl"] } : {};
  return { os: [match[1]], cpu: [cpu], ...libc };
}
