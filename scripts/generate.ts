/**
 * Generates the generated files of this repository; `--check` fails if the
 * committed files differ.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { annotationSource } from "./generate/annotation.ts";
import { checkAnswersSource } from "./generate/check-answers.ts";
import { checkEntry } from "./generate/check-entry.ts";
import { configSchemaJson, serviceConfigSchemaJson } from "./generate/config-schema.ts";
import { notesExample, withNotesExample } from "./generate/notes-example.ts";
import { readTaggedTests, withRequirementTests } from "./generate/requirements.ts";
import { rulesReference } from "./generate/rules-reference.ts";
import { withServiceConfigReference } from "./generate/service-config-reference.ts";
import { serviceConfigType } from "./generate/service-config-type.ts";
import { readShippedFiles, shippedServicesSource } from "./generate/shipped-services.ts";
import { templatesSource } from "./generate/templates.ts";

const root = new URL("../", import.meta.url);
const templates = new URL("templates/", root);
const sources = readdirSync(templates)
  .filter((name) => name.endsWith(".hbs"))
  .sort()
  .map((name) => ({ name, source: readFileSync(new URL(name, templates), "utf8") }));

const notes = notesExample();
const outputs: readonly (readonly [string, string])[] = [
  ["src/gen/templates.ts", templatesSource(sources)],
  ["src/gen/annotation.ts", annotationSource()],
  ["src/gen/shipped-services.ts", shippedServicesSource(await readShippedFiles())],
  ["src/gen/check-answers.ts", checkAnswersSource()],
  ["bin/buf-plugin-svc-access", checkEntry()],
  ["src/gen/service-config.ts", serviceConfigType()],
  ["schemas/svc-access.schema.json", configSchemaJson()],
  ["schemas/service.schema.json", serviceConfigSchemaJson()],
  ["docs/rules.md", rulesReference()],
  [
    "docs/configuration.md",
    withServiceConfigReference(readFileSync(new URL("docs/configuration.md", root), "utf8")),
  ],
  [
    "docs/requirements.md",
    withRequirementTests(readFileSync(new URL("docs/requirements.md", root), "utf8"), [
      ...readTaggedTests(root, "test"),
      ...readTaggedTests(root, "services"),
    ]),
  ],
  [
    "docs/runtime.md",
    withNotesExample(readFileSync(new URL("docs/runtime.md", root), "utf8"), notes),
  ],
  ...notes,
];

const check = process.argv.includes("--check");
const drifted: string[] = [];
for (const [name, content] of outputs) {
  const path = new URL(name, root);
  if (read(path) === content) continue;
  if (check) {
    drifted.push(name);
  } else {
    mkdirSync(dirname(path.pathname), { recursive: true });
    writeFileSync(path, content);
  }
}
if (drifted.length > 0) {
  process.stderr.write(`${drifted.join(", ")} drifted; npm run generate, and commit\n`);
  process.exitCode = 1;
}

function read(path: URL): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
