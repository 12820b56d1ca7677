/** Names a relation or permission of a type in one string, as SpiceDB writes it: `group#member`. */
export function memberKey(type: string, name: string): string {
  return `${type}#${name}`;
}
