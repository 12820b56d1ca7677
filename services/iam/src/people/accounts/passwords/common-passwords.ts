/** How often "4" stands for "a", and so on. */
const SUBSTITUTES: Readonly<Record<string, string>> = {
  "@": "a",
  "4": "a",
  "3": "e",
  "1": "i",
  "!": "i",
  "0": "o",
  $: "s",
  "5": "s",
  "7": "t",
};

/** A shorter piece says little about what it is part of. */
const SHORTEST_PIECE = 3;
/** Two common passwords in a row, or one and a character, are as easy to guess. */
const FEWEST_PIECES = 3;
/** Longer ones are not searched for pieces: none of two pieces is that long. */
const LONGEST_SEARCHED = 64;

let loading: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether a password is one of the 49,000 most common ones, also in other letter case, with the
 * usual substitutes (`P4ssw0rd`), and joined from two of them (`password1234`).
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  loading ??= load();
  const common = await loading;
  const lower = password.toLowerCase();
  return [lower, withoutSubstitutes(lower)].some((text) => pieces(text, common) < FEWEST_PIECES);
}

/**
 * It is loaded when the first password is set. By a module of ours: a bundle has no names of what it imports dynamically
 * from a package in CommonJS.
 */
async function load(): Promise<ReadonlySet<string>> {
  return (await import("./common-password-list.ts")).COMMON_PASSWORDS;
}

function withoutSubstitutes(text: string): string {
  return text.replace(/[@431!0$57]/g, (character) => SUBSTITUTES[character] ?? character);
}

/** The smallest number of common passwords and single characters that a text consists of. */
function pieces(text: string, common: ReadonlySet<string>): number {
  if (text.length > LONGEST_SEARCHED) return FEWEST_PIECES;
  const fewest = [0];
  for (let end = 1; end <= text.length; end++) {
    let least = (fewest[end - 1] as number) + 1;
    for (let start = 0; start <= end - SHORTEST_PIECE; start++) {
      const count = (fewest[start] as number) + 1;
      if (count < least && common.has(text.slice(start, end))) least = count;
    }
    fewest.push(least);
  }
  return fewest[text.length] as number;
}
