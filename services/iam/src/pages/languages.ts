import { MESSAGES } from "./messages/messages.ts";

/** A language of the pages, as in BCP 47. */
export type Language = keyof typeof MESSAGES;

/** The languages of the pages, in which their texts are complete. */
export const LANGUAGES = Object.keys(MESSAGES) as readonly Language[];

/** The language of who wishes none that the pages have. */
export const SOURCE_LANGUAGE: Language = "en";

/** No browser sends more. */
const LONGEST = 512;

/**
 * The first language of the pages that a list of wishes names, also by one of its regions.
 *
 * @param wishes tags as in BCP 47, the most wanted first
 */
export function languageOf(wishes: readonly string[]): Language | undefined {
  for (const wish of wishes) {
    const primary = wish.toLowerCase().split("-")[0];
    const found = LANGUAGES.find((language) => language === primary);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The wishes of the parameter `ui_locales` of OpenID Connect: tags with spaces between them. */
export function uiLocales(value: unknown): string[] {
  return typeof value === "string" ? value.slice(0, LONGEST).split(" ") : [];
}

/** The wishes of the header `Accept-Language` (RFC 9110), the most wanted first. */
export function acceptedLanguages(header: string): string[] {
  return header
    .slice(0, LONGEST)
    .split(",")
    .map((entry) => {
      const [tag = "", ...parameters] = entry.trim().split(";");
      const weight = parameters.map((one) => /^\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*$/.exec(one)?.[1]);
      return { tag: tag.trim(), weight: Number(weight[0] ?? (parameters.length === 0 ? 1 : 0)) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}
