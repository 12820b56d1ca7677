import { FORM_TOKEN } from "./form-tokens.ts";
import { type Html, html } from "./html.ts";

/** A labeled input of a form. */
export interface Field {
  readonly name: string;
  readonly label: Html;
  readonly type?: "text" | "password" | "email" | "url";
  readonly autocomplete?: string;
  readonly value?: string;
  readonly hint?: Html | undefined;
  /** Why the value was not accepted. */
  readonly problem?: Html | undefined;
  readonly isOptional?: boolean;
  readonly isReadOnly?: boolean;
  /** Whether the cursor is in it when the page is shown. */
  readonly isFirst?: boolean;
  readonly shortest?: number;
  readonly longest?: number;
  /** The keyboard of phones. */
  readonly mode?: "numeric";
}

/** An input with its label, hint and problem, which screen readers read with it. */
export function field(given: Field): Html {
  const { name, label, type = "text", autocomplete = "off", value, hint, problem } = given;
  const about = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(" ");
  const attributes = [
    value === undefined ? undefined : html` value="${value}"`,
    given.isOptional || given.isReadOnly ? undefined : html` required`,
    given.isReadOnly ? html` readonly` : undefined,
    given.isFirst ? html` autofocus` : undefined,
    given.shortest && html` minlength="${given.shortest}"`,
    given.longest && html` maxlength="${given.longest}"`,
    given.mode && html` inputmode="${given.mode}"`,
    about === "" ? undefined : html` aria-describedby="${about}"`,
    problem && html` aria-invalid="true"`,
  ];
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${problem && html`<p class="wrong" id="${name}-problem">${problem}</p>`}
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${attributes}>
</div>`;
}

/** The summary of why a form was not accepted, which gets the focus; nothing without a problem. */
export function problemBox(problem: Html | undefined): Html | undefined {
  return problem && html`<div class="alert" role="alert" tabindex="-1" autofocus>${problem}</div>`;
}

/** Why what was entered into a field was not accepted. */
export interface FieldProblem {
  /** That of the field. */
  readonly name: string;
  readonly problem: Html;
}

/** The summary of all fields that were not accepted, each with a link to it; nothing without one. */
export function problemList(problems: readonly FieldProblem[]): Html | undefined {
  if (problems.length === 0) return undefined;
  return problemBox(html`<ul>
${problems.map(({ name, problem }) => html`<li><a href="#${name}">${problem}</a></li>\n`)}</ul>`);
}

/** The message that something was done. */
export function doneBox(message: Html | undefined): Html | undefined {
  return message && html`<div class="done" role="status">${message}</div>`;
}

/** The field with the token of a form. */
export function formToken(token: string): Html {
  return html`<input type="hidden" name="${FORM_TOKEN}" value="${token}">`;
}
