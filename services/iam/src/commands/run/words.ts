/** Names of fields that people call otherwise. */
const WORDS: Readonly<Record<string, string>> = {
  avatarUrl: "picture",
  createTime: "created",
  declared: "made by the configuration",
  email: "e-mail",
  groupIds: "groups",
  organizationId: "organization",
  parentId: "parent",
  updateTime: "changed",
  username: "user name",
};

/** What people call a field of a message, by its name in JSON: `user name` for `username`. */
export function wordsOf(field: string): string {
  const words = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return WORDS[field] ?? words;
}

/** A value of a message for people: a list without brackets, `yes` and `no`. */
export function textOf(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
