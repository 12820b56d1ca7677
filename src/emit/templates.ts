import Handlebars from "handlebars/runtime.js";
import { TEMPLATES } from "../gen/templates.ts";

/** Renders data with a template of `templates/`. */
export type Template = (data: object) => string;

/** The source of a file's policies. */
export const accessTemplate: Template = compiled("access.ts");

/** The source of the routes for clients of a file's services. */
export const clientTemplate: Template = compiled("client.ts");

/** The body of a file's server stubs. */
export const serverTemplate: Template = compiled("server.ts");

// The types of Handlebars do not include its runtime.
const runtime = Handlebars as unknown as { template(specification: unknown): Template };

/** Templates are compiled when this package is built, so that plugins start fast. */
function compiled(name: keyof typeof TEMPLATES): Template {
  let template: Template | undefined;
  return (data) => {
    template ??= runtime.template(TEMPLATES[name]);
    return template(data);
  };
}
