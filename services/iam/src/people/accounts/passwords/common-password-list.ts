import { dictionary } from "@zxcvbn-ts/language-common";

/** The 49,000 most common passwords, in lower case. The list takes 70 ms to unpack. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  dictionary["passwords-common"] as readonly string[],
);
