/**
 * Whether a text can be in the database. PostgreSQL refuses a statement with the character NUL, which
 * anybody can send: there is no row to look for.
 */
export function isStorable(text: string): boolean {
  return !text.includes("\0");
}
