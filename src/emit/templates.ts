import Handlebars from "handlebars/runtime.js";
import { TEMPLATES } from "../gen/templates.ts";

/** Renders data by a template of `templates/`. */
export type Template = (data: object) => string;

/** The source of a file's policies. */
export const accessTemplate: Template = compiled("access.ts");

/** What clients of a file's services need. */
export const clientTemplate: Template = compiled("client.ts");

/** The body of a file's server stubs. */
export const serverTemplate: Template = compiled("server.ts");

// The types of handlebars name no runtime of their own.
const runtime = Handlebars as unknown as { template(specification: unknown): Template };

/** Templates are compiled when this package is built, so that a plugin starts fast. */
function compiled(name: keyof typeof TEMPLATES): Template {
  let template: Template | undefined;
  return (data) => {
    template ??= runtime.template(TEMPLATES[name]);
    return template(data);
  };
}
