/** A text as one word of a shell command, such as a path; in quotes, if it needs them. */
export function shellWord(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
