import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The ports of a starter. */
export interface StarterPorts {
  readonly http: number;
  readonly grpc: number;
  readonly metrics: number;
}

/** The last two digits of the ports, which the three of a service share, are from 10 to 79. */
const FIRST = 10;
const COUNT = 70;

/** With this start, `notes` of the documentation has 18010. */
const START = 17;

/** The files of a service that have its ports. */
const CONFIGURATIONS = ["svc-access.yaml", "service.yaml"];

/**
 * Chooses ports for a service: by its name, so that two services of one developer have different ones,
 * or the next ones that no service of the same repository has.
 *
 * @param folder - where the service will be
 */
export function choosePorts(folder: string, service: string): StarterPorts {
  const own = textOf(join(folder, "svc-access.yaml"));
  const given = own.includes(`${service}:`) ? digitsIn(own)[0] : undefined;
  const taken = new Set(configurationsBeside(folder).concat(own).flatMap(digitsIn));
  const candidates = Array.from({ length: COUNT }, (_, turn) => (hashOf(service) + turn) % COUNT)
    .map((place) => FIRST + place)
    .filter((digits) => !taken.has(digits));
  // A repository that has all of them moves this service by hand.
  const digits = given ?? candidates[0] ?? FIRST + hashOf(service);
  return { http: 18_000 + digits, grpc: 19_000 + digits, metrics: 19_100 + digits };
}

function hashOf(name: string): number {
  let hash = START;
  for (const character of name) hash = (hash * 31 + character.charCodeAt(0)) % COUNT;
  return hash;
}

/** The last two digits of each port of the convention in a configuration (docs/operations.md, "Ports"). */
function digitsIn(text: string): number[] {
  return [...text.matchAll(/(?<!\d)(?:180|190|191)(\d\d)(?!\d)/g)].map(([, digits]) =>
    Number(digits),
  );
}

/** The configurations of the services beside a folder, and of those above it, in its repository. */
function configurationsBeside(folder: string): string[] {
  const above = repositoryAbove(resolve(folder));
  const [parent] = above;
  if (parent === undefined) return [];
  const siblings = foldersIn(parent).filter((place) => place !== resolve(folder));
  return [...above, ...siblings].flatMap((place) =>
    CONFIGURATIONS.map((name) => textOf(join(place, name))),
  );
}

/** The folders above one, up to that of its repository or package; empty without one. */
function repositoryAbove(folder: string): string[] {
  const above: string[] = [];
  for (let place = folder; dirname(place) !== place; ) {
    place = dirname(place);
    above.push(place);
    if (existsSync(join(place, ".git"))) return above;
  }
  const isRoot = (place: string) =>
    ["package.json", "svc-access.yaml"].some((name) => existsSync(join(place, name)));
  return above.slice(0, above.findLastIndex(isRoot) + 1);
}

function foldersIn(parent: string): string[] {
  try {
    return readdirSync(parent, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(parent, name));
  } catch {
    // One that may be entered, but not listed.
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Absent, or not a file: it names no ports.
    return "";
  }
}
