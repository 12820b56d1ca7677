import { createHash } from "node:crypto";
import type { HttpRoutePlan, LimitPlan, PlannedRoute, RulePlan } from "./plan.ts";
import type { BackendTarget } from "./plan-references.ts";

/** The limits of the Gateway API (checked by its CRD). */
const MAX_RULES = 16;
const MAX_MATCHES_OF_RULE = 64;
const MAX_MATCHES_OF_ROUTE = 128;
const MAX_NAME = 253;

/** An entry with the properties that decide on its rule. */
export interface PackedEntry {
  readonly entry: PlannedRoute;
  readonly backend: BackendTarget;
  readonly timeout: string;
  readonly limit?: number;
}

/** The routes of one group, and its rate-limited rules. */
export interface PackedRoutes {
  readonly routes: readonly Pick<HttpRoutePlan, "name" | "rules">[];
  readonly limited: readonly {
    readonly limit: number;
    readonly target: LimitPlan["targets"][number];
  }[];
}

/**
 * Packs entries into rules, and rules into routes.
 *
 * Entries with the same backend share a rule. An RPC with a rate limit has its
 * own rules, since a limit refers to a rule by its name.
 *
 * @param nameOf - the name of the nth route, from 1
 */
export function packRoutes(
  entries: readonly PackedEntry[],
  nameOf: (index: number) => string,
): PackedRoutes {
  const rules = [...sharedRules(entries), ...limitedRules(entries)];
  const routes: { name: string; rules: RulePlan[] }[] = [];
  const limited: PackedRoutes["limited"][number][] = [];
  let matches = 0;
  for (const { rule, limit } of rules) {
    let route = routes.at(-1);
    if (
      route === undefined ||
      route.rules.length === MAX_RULES ||
      matches + rule.entries.length > MAX_MATCHES_OF_ROUTE
    ) {
      route = { name: nameOf(routes.length + 1), rules: [] };
      routes.push(route);
      matches = 0;
    }
    route.rules.push(rule);
    matches += rule.entries.length;
    if (limit !== undefined && rule.name !== undefined) {
      limited.push({ limit, target: { route: route.name, rule: rule.name } });
    }
  }
  return { routes, limited };
}

interface Rule {
  readonly rule: RulePlan;
  readonly limit?: number;
}

function* sharedRules(entries: readonly PackedEntry[]): Iterable<Rule> {
  const groups = groupBy(
    entries.filter(({ limit }) => limit === undefined),
    ({ backend, timeout }) =>
      `${backend.kind} ${backend.namespace} ${backend.name} ${backend.port} ${timeout}`,
  );
  for (const group of groups) yield* rulesOf(group, () => undefined);
}

function* limitedRules(entries: readonly PackedEntry[]): Iterable<Rule> {
  const groups = groupBy(
    entries.filter(({ limit }) => limit !== undefined),
    ({ entry }) => entry.owner.name,
  );
  const names = new Set<string>();
  for (const group of groups) {
    yield* rulesOf(group, (index) => ruleName(group[0].entry.owner.name, index, names));
  }
}

function* rulesOf(
  group: readonly [PackedEntry, ...PackedEntry[]],
  nameOf: (index: number) => string | undefined,
): Iterable<Rule> {
  const [{ backend, timeout, limit }] = group;
  for (let start = 0; start < group.length; start += MAX_MATCHES_OF_RULE) {
    const name = nameOf(start / MAX_MATCHES_OF_RULE);
    yield {
      rule: {
        ...(name === undefined ? {} : { name }),
        backend,
        timeout,
        entries: group.slice(start, start + MAX_MATCHES_OF_RULE).map(({ entry }) => entry),
      },
      ...(limit === undefined ? {} : { limit }),
    };
  }
}

/**
 * A full method name as the name of a rule: in lower case, and with a hash if
 * another rule could have that name.
 */
function ruleName(rpc: string, index: number, taken: Set<string>): string {
  const text = index === 0 ? rpc : `${rpc}.${index + 1}`;
  const labels = text
    .toLowerCase()
    .split(/[./]/)
    .map((label) => label.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, ""));
  let name = labels.filter((label) => label !== "").join(".");
  if (name === "" || name.length > MAX_NAME || taken.has(name)) {
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
    name = `${name.slice(0, 200).replace(/[-.]+$/, "")}.${hash}`.replace(/^\./, "");
  }
  taken.add(name);
  return name;
}

function groupBy<Value>(
  values: readonly Value[],
  keyOf: (value: Value) => string,
): [Value, ...Value[]][] {
  const groups = new Map<string, [Value, ...Value[]]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return [...groups.values()];
}
