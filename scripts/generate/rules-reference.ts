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
        ? "Findings are errors: they fail `svc-access lint` and `buf lint`, and stop code generation."
        : "Findings are warnings: `svc-access lint` prints them, but fails only with `--strict`. `buf lint` has no severities, so it ignores the category unless `use` lists it.";
    return `## ${id}

${purpose} ${weight}

| rule | purpose |
|---|---|
${rows.join("")}`;
  });
  return `<!-- Generated from src/rules by npm run generate. DO NOT EDIT. -->
# Rules

The position of a finding is the wrong field of the annotation, or the RPC if
something is missing. It is the same line and column in \`buf lint\`,
\`buf generate\` and \`svc-access lint\`. The comment
\`// buf:lint:ignore RULE\` above an RPC or a service suppresses a warning. It
suppresses an error only in \`buf lint\`; code generation still fails.

${sections.join("\n")}
## ${BREAKING_CATEGORY.id}

${BREAKING_CATEGORY.purpose} \`buf breaking\` runs these rules if \`breaking\` in \`buf.yaml\` has no \`use\`, or one that lists the
category. They compare each RPC with its former version. As with other breaking changes, reviewers decide on intended changes.

| rule | purpose |
|---|---|
${BREAKING_RULES.map(({ id, purpose }) => `| \`${id}\` | ${purpose} |\n`).join("")}`;
}
