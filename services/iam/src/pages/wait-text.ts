import type { MessageKey, TextValues } from "./texts.ts";

/** From how many seconds on people read minutes: "885 s" tells them little. */
const FROM_SECONDS = 120;

const IN_MINUTES = {
  "Try again in {seconds} s.": "Try again in {minutes} minutes.",
  "There were too many attempts. Try again in {seconds} s.":
    "There were too many attempts. Try again in {minutes} minutes.",
  "There were too many failed attempts. Try again in {seconds} s.":
    "There were too many failed attempts. Try again in {minutes} minutes.",
} as const satisfies Readonly<Partial<Record<MessageKey, MessageKey>>>;

/** How long somebody must wait, as a page says it: from two minutes on in minutes, rounded up. */
export function waitText(
  text: keyof typeof IN_MINUTES,
  seconds: number,
): { readonly text: MessageKey; readonly values: TextValues } {
  if (seconds < FROM_SECONDS) return { text, values: { seconds } };
  return { text: IN_MINUTES[text], values: { minutes: Math.ceil(seconds / 60) } };
}
