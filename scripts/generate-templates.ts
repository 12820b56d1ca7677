/** Compiles `templates/` to `src/gen/templates.ts`. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import Handlebars from "handlebars";

const folder = new URL("../templates/", import.meta.url);
const output = new URL("../src/gen/templates.ts", import.meta.url);

const entries = readdirSync(folder)
  .filter((name) => name.endsWith(".hbs"))
  .sort()
  .map((name) => {
    const source = readFileSync(new URL(name, folder), "utf8");
    const compiled = Handlebars.precompile(source, { noEscape: true, strict: true });
    return `  ${JSON.stringify(name.replace(/\.hbs$/, ""))}: ${compiled},\n`;
  });
writeFileSync(
  output,
  `// @ts-nocheck\n// Generated from templates/ by npm run generate. DO NOT EDIT.\nexport const TEMPLATES = {\n${entries.join("")}};\n`,
);
