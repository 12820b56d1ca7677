import { readdirSync, readFileSync } from "node:fs";

/** A test, or a group of tests, whose name ends with the ids of requirements that it verifies. */
export interface TaggedTest {
  readonly file: string;
  readonly name: string;
  readonly ids: readonly string[];
}

const MARK = "<!-- The list is generated from the names of the tests by npm run generate. -->";

/** A requirement in the page: "- `EXP-1` …", with its mark. */
const REQUIREMENT = /^- `([A-Z]+-\d+)`(?: \((not built yet|shown at the edge later)\))?/gm;

/** A string that ends with ids in brackets. In sources of tests, only names do. */
const TAGGED = /(["'`])((?:(?!\1)[^\\\n]|\\.)*) \[([A-Z]+-\d+(?:, [A-Z]+-\d+)*)\]\1/g;

/**
 * Adds the list of tests to the end of the page of requirements.
 *
 * @throws Error if the page has an id twice, a test has one that the page does not have, or one that
 * is not built yet, or a requirement without a mark has no test.
 */
export function withRequirementTests(page: string, tests: readonly TaggedTest[]): string {
  const end = page.indexOf(MARK);
  if (end === -1) throw new Error("docs/requirements.md has lost its mark");
  const found = [...page.slice(0, end).matchAll(REQUIREMENT)];
  const marks = new Map(found.map(([, id = "", mark]) => [id, mark]));
  const twice = found.find(([, id], index) => found.findIndex(([, other]) => other === id) < index);
  if (twice !== undefined) throw new Error(`docs/requirements.md has ${twice[1]} twice`);
  for (const { file, name, ids } of tests) {
    for (const id of ids) {
      const problem = marks.has(id) ? "says that it is not built yet" : "does not have it";
      if (!marks.has(id) || marks.get(id) === "not built yet") {
        throw new Error(`${file}: "${name}" names ${id}, and docs/requirements.md ${problem}`);
      }
    }
  }
  const built = [...marks].filter(([, mark]) => mark !== "not built yet");
  const rows = built.map(([id, mark]) => {
    return { id, mark, tests: tests.filter(({ ids }) => ids.includes(id)) };
  });
  const untested = rows.filter((row) => row.mark === undefined && row.tests.length === 0);
  if (untested.length > 0) {
    const ids = untested.map(({ id }) => id).join(", ");
    throw new Error(
      `no test names ${ids} of docs/requirements.md: put the id at the end of the name of a test that verifies it`,
    );
  }
  return `${page.slice(0, end + MARK.length)}

| requirement | tests |
|---|---|
${rows.map((row) => `| \`${row.id}\` | ${row.tests.map(cell).join("<br>") || row.mark} |\n`).join("")}`;
}

function cell({ file, name }: TaggedTest): string {
  return `\`${file}\`: ${name.replaceAll("\\", "").replace(/[|<*`]/g, "\\$&")}`;
}

/** All tests of a folder whose names have requirements, in the order of the files. */
export function readTaggedTests(root: URL, folder: string): readonly TaggedTest[] {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".ts") && !file.includes("/node_modules/"))
    .sort()
    .flatMap((file) => taggedTests(file, readFileSync(new URL(file, root), "utf8")));
}

/** The tests of one source whose names have requirements. */
export function taggedTests(file: string, source: string): readonly TaggedTest[] {
  return [...source.matchAll(TAGGED)].map(([, , name = "", ids = ""]) => {
    return { file, name, ids: ids.split(", ") };
  });
}
