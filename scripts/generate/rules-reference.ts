import { BREAKING_CATEGORY, BREAKING_RULES } from "../../src/rules/breaking/index.ts";
import { CATEGORIES, RULES } from "../../src/rules/index.ts";

/** `docs/rules.md`. */
export function rulesReference(): string {
  const sections = CATEGORIES.map(({ id, purpose }) => {
    const rules = RULES.filter(({ category }) => category === id);
    const rows = rules.map((rule) => {
      const model = rule.needsModel === true ? " Needs a model." : "";
      return `| \`${rule.id}\` | ${rule.purpose}${model} |\n`;
    });
    const weight =
      id === "ACCESS"
        ? "Findings are errors: they fail `svc-access lint` and `buf lint`, and stop every generation."
        : "Findings are warnings: `svc-access lint` prints them and fails with `--strict` only. `buf lint` knows no severity, so there the category is off until `use` lists it.";
    return `## ${id}

${purpose} ${weight}

| rule | purpose |
|---|---|
${rows.join("")}`;
  });
  return `<!-- Generated from src/rules by npm run generate. DO NOT EDIT. -->
# Rules

A finding stands at the field of the annotation that is wrong, or at the RPC
where something is missing, at the same line and column in \`buf lint\`,
\`buf generate\` and \`svc-access lint\`. The comment
\`// buf:lint:ignore RULE\` above an RPC or a service silences a warning. It
silences an error in \`buf lint\` only: a generation refuses it all the same.

${sections.join("\n")}
## ${BREAKING_CATEGORY.id}

${BREAKING_CATEGORY.purpose} \`buf breaking\` runs these rules where \`breaking\` in \`buf.yaml\` has no \`use\`, or one that lists the
category. They compare each RPC with what it was; where a change is meant, its reviewer decides, as with other breaking changes.

| rule | purpose |
|---|---|
${BREAKING_RULES.map(({ id, purpose }) => `| \`${id}\` | ${purpose} |\n`).join("")}`;
}
