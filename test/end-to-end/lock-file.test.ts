/** `npm ci` must accept the lock file on every platform, for which scripts/complete-lock-file.ts completes it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/workspace.ts";

interface Entry {
  readonly integrity?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock: { packages: Record<string, Entry> } = JSON.parse(
  readFileSync(join(ROOT, "package-lock.json"), "utf8"),
);

test("the lock file has the optional packages of all platforms", () => {
  const missing = Object.entries(lock.packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        !(`node_modules/${name}` in lock.packages) &&
        !(`${place}/node_modules/${name}` in lock.packages),
    ),
  );
  expect(missing).toEqual([]);
});

test("every package has an integrity, except those of platforms that the registry did not serve", () => {
  const unverified = Object.entries(lock.packages).filter(
    ([place, { integrity, link }]) =>
      place.includes("node_modules/") && link !== true && integrity === undefined,
  );
  for (const [place, { optional, os }] of unverified) {
    expect({ place, optional, os }).toMatchObject({ optional: true, os: [expect.any(String)] });
  }
  expect(unverified.length).toBeLessThan(20);
});

test("links lead to this package and its services", () => {
  const links = Object.values(lock.packages).filter(({ link }) => link === true);
  const folders = Object.keys(lock.packages).filter((place) => !place.includes("node_modules/"));
  expect(folders.filter((folder) => !/^(services\/[^/]+)?$/.test(folder))).toEqual([]);
  expect(links.map(({ resolved }) => resolved).sort()).toEqual(folders.sort());
});
