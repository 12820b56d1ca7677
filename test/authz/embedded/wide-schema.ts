import { type Model, parseModel } from "../../../src/model/index.ts";
import type { RandomChoice } from "./random-choice.ts";

const BARE = ["user", "service", "service_account"];
const TYPES = ["team", "folder", "doc", "acme/site", "cluster"];
/** Types share names: a relation of one type may be a permission of another. */
const HOLDERS = ["member", "viewer", "banned", "view"];
const LINKS = ["parent", "place"];
const PERMISSIONS = ["view", "edit", "admin", "member", "look"];

/** A type under construction: its relations with their subjects, and the names of its permissions. */
interface Draft {
  readonly type: string;
  readonly relations: Map<string, string[]>;
  readonly permissions: string[];
}

/**
 * A random model of up to eight types, which passes the checks of models: usersets of relations and
 * permissions, wildcards of several types, arrows to types of which some lack the permission,
 * recursion through relations and parents, operators with and without parentheses.
 */
export function randomWideModel(choice: RandomChoice): { text: string; model: Model } {
  for (;;) {
    const text = randomSchema(choice);
    const { model, diagnostics } = parseModel(text, "random.zed");
    if (diagnostics.length === 0) return { text, model };
  }
}

function randomSchema(choice: RandomChoice): string {
  const types = choice.someOf(TYPES, 2);
  const drafts = types.map((type): Draft => {
    const names = [...choice.someOf(HOLDERS, 1), ...choice.someOf(LINKS, 1)];
    const permissions = choice.someOf(PERMISSIONS, 1).filter((name) => !names.includes(name));
    return { type, relations: new Map(names.map((name) => [name, []])), permissions };
  });
  for (const { relations } of drafts) {
    for (const [name, subjects] of relations) {
      subjects.push(
        ...(LINKS.includes(name) ? choice.someOf(types, 1) : held(choice, drafts, name)),
      );
    }
  }
  const bare = BARE.map((type) => `definition ${type} {}\n`);
  return `use self\n${bare.join("")}${drafts.map((draft) => definition(choice, drafts, draft)).join("")}`;
}

/** Subjects of a relation that arrows do not follow. */
function held(choice: RandomChoice, drafts: readonly Draft[], relation: string): string[] {
  const bare = choice.someOf(BARE, 1);
  const types = [...BARE, ...drafts.map(({ type }) => type)];
  const wildcards = choice.oneIn(3) ? choice.someOf(types, 1).map((type) => `${type}:*`) : [];
  if (relation === "banned") return [...bare, ...wildcards];
  const usersets = drafts.flatMap(({ type, relations, permissions }) =>
    (relation === "member"
      ? [...relations.keys()].filter(isPlain)
      : [...relations.keys(), ...permissions]
    )
      .filter((name) => !WILD.includes(name))
      .map((name) => `${type}#${name}`),
  );
  const named = choice.list(choice.below(4), () => choice.of(usersets));
  const objects = choice.oneIn(4) ? [choice.of(drafts).type] : [];
  const all = relation === "viewer" ? wildcards : [];
  return [...new Set([...bare, ...all, ...named, ...objects])];
}

/** Relations that may have wildcards, and so are in no userset. */
const WILD = ["viewer", "banned"];

/** Whether no subject of a relation of this name leads to a permission. */
function isPlain(name: string): boolean {
  return name === "banned" || name === "member" || LINKS.includes(name);
}

function definition(choice: RandomChoice, drafts: readonly Draft[], draft: Draft): string {
  const relations = [...draft.relations].map(
    ([name, subjects]) => `  relation ${name}: ${subjects.join(" | ")}\n`,
  );
  const permissions = draft.permissions.map((name, index) => {
    // Only earlier ones, so that no permission refers to itself.
    const names = [...draft.relations.keys(), ...draft.permissions.slice(0, index)];
    const leaf = (subtracted: boolean) => randomLeaf(choice, drafts, draft, names, subtracted);
    return `  permission ${name} = ${expression(choice, leaf, 4)}\n`;
  });
  return `definition ${draft.type} {\n${[...relations, ...permissions].join("")}}\n`;
}

type Leaf = (subtracted: boolean) => string;

function expression(choice: RandomChoice, leaf: Leaf, depth: number, subtracted = false): string {
  if (depth === 0 || choice.oneIn(3)) return leaf(subtracted);
  const operator = choice.of(["+", "+", "&", "-"]);
  const first = expression(choice, leaf, depth - 1, subtracted);
  const others = choice.list(1 + choice.below(2), () =>
    expression(choice, leaf, depth - 1, subtracted || operator === "-"),
  );
  const text = [first, ...others].join(` ${operator} `);
  return choice.oneIn(4) ? text : `(${text})`;
}

function randomLeaf(
  choice: RandomChoice,
  drafts: readonly Draft[],
  { relations }: Draft,
  names: readonly string[],
  subtracted: boolean,
): string {
  const pick = choice.below(20);
  if (pick === 0) return "nil";
  if (pick === 1) return "self";
  // Recursion below a minus makes the model invalid.
  const plain = [...relations.keys()].filter(isPlain);
  if (subtracted && pick < 17) return choice.of(plain);
  if (pick < (subtracted ? 18 : 10)) return choice.of(names);
  const [link, subjects] = choice.of([...relations].filter(([name]) => LINKS.includes(name)));
  const targets = drafts.filter(({ type }) => subjects.includes(type));
  const target = choice.of(targets);
  const name = choice.of([...target.relations.keys(), ...target.permissions]);
  return choice.of([`${link}->${name}`, `${link}.all(${name})`, `${link}.any(${name})`]);
}
