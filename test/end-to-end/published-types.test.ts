/** The types of the installed package, without the tools of this repository. */
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, sep } from "node:path";
import { expect, test } from "vitest";
import { InstalledRepository } from "../support/installed-repository.ts";
import { ROOT } from "../support/workspace.ts";

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const ENTRIES = Object.keys(manifest.exports).filter((name) => name !== "./package.json");
const OURS = join(ROOT, "dist", "types") + sep;

test("the dependencies have everything that public types need, even with skipLibCheck: false [PKG-2]", () => {
  const imports = ENTRIES.map(
    (name, index) => `export * as entry${index} from "svc-access${name.slice(1)}";\n`,
  );
  using repo = new InstalledRepository({ "src/main.ts": imports.join("") });
  repo.write(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: {
        target: "ES2023",
        module: "NodeNext",
        types: ["node"],
        strict: true,
        skipLibCheck: false,
        noEmit: true,
      },
      include: ["src"],
    }),
  );
  const { stdout } = repo.run("tsc", "--listFiles", "--pretty", "false");
  const lines = stdout.split("\n");
  expect(lines.filter((line) => /: error TS/.test(line))).toEqual([]);

  const files = lines.filter((line) => line.startsWith(OURS) && line.endsWith(".d.ts"));
  expect(files.length).toBeGreaterThan(ENTRIES.length);
  // The types must not need bundled or optional packages; those of `svc-access/iam` name those of the runtime.
  expect([...new Set(files.flatMap(packagesOf))].sort()).toEqual([
    "@bufbuild/protobuf",
    "svc-access",
  ]);
  expect(Object.keys(manifest.dependencies)).toContain("@bufbuild/protobuf");
});

/** The packages whose types a file needs. */
function packagesOf(path: string): string[] {
  // Comments quote SQL, too.
  const text = readFileSync(path, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  const names = [...text.matchAll(/(?:from |import\()"([^".][^"]*)"/g)].map(
    ([, name = ""]) => name,
  );
  return names
    .filter((name) => !isBuiltin(name))
    .map((name) =>
      name
        .split("/")
        .slice(0, name.startsWith("@") ? 2 : 1)
        .join("/"),
    );
}
