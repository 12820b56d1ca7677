import { formatExpression, formatSubject, type Model } from "../../model/index.ts";

/** What a model means, in one text: two models with the same text decide the same. */
export function modelMeaning(model: Model): string {
  const definitions = [...model.definitions.values()].map(({ name, relations, permissions }) => [
    name,
    sort(
      [...relations.values()].map(({ name, subjects }) => [
        name,
        sort(subjects.map(formatSubject)),
      ]),
    ),
    sort(
      [...permissions.values()].map(({ name, expression }) => [name, formatExpression(expression)]),
    ),
  ]);
  const caveats = [...model.caveats.values()].map(({ name, parameters, expression }) => [
    name,
    sort(parameters.map(({ name, type }) => [name, type])),
    // SpiceDB formats the text of a caveat anew.
    expression.replaceAll(/\s+/g, ""),
  ]);
  return JSON.stringify([sort(definitions), sort(caveats)]);
}

/** In an order that does not depend on the order of the text. */
function sort(items: readonly unknown[]): string[] {
  return items.map((item) => JSON.stringify(item)).sort();
}
