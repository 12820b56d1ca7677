import Handlebars from "handlebars";

/** The compiled templates, so that programs need not compile them. */
export function templatesSource(
  templates: readonly { readonly name: string; readonly source: string }[],
): string {
  const entries = templates.map(({ name, source }) => {
    const compiled = Handlebars.precompile(source, { noEscape: true, strict: true });
    return `  ${JSON.stringify(name.replace(/\.hbs$/, ""))}: ${compiled},\n`;
  });
  return `// @ts-nocheck
// Generated from templates/ by npm run generate. DO NOT EDIT.
/** The compiled templates, by name. */
export const TEMPLATES = {
${entries.join("")}};
`;
}
