/** Endings of an English plural, and what they replace in the singular. */
const PLURALS: readonly (readonly [ending: RegExp, plural: string])[] = [
  [/$/, ""],
  [/$/, "s"],
  [/$/, "es"],
  [/y$/, "ies"],
  [/fe?$/, "ves"],
  [/is$/, "es"],
  [/(?:ex|ix)$/, "ices"],
  [/um$/, "a"],
  [/on$/, "a"],
  [/us$/, "i"],
  [/man$/, "men"],
  [/person$/, "people"],
  [/child$/, "children"],
];

/**
 * Whether a segment of a path, or the name of a field, is that of the objects
 * of a type, in the singular or the plural: `skillSpaces`, `skill-spaces` and
 * `skill_space` are all those of `skill_space`.
 */
export function isCollectionOf(name: string, type: string): boolean {
  const plain = normalized(name);
  const singular = normalized(bareType(type));
  return PLURALS.some(
    ([ending, plural]) => ending.test(singular) && singular.replace(ending, plural) === plain,
  );
}

/** The type without the prefix that a model may give it: `shop/item` is `item`. */
export function bareType(type: string): string {
  return type.slice(type.lastIndexOf("/") + 1);
}

function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}
