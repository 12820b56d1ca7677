import { InvalidArgumentError } from "commander";

/** A flag that is a whole number from 1 on. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError("write a whole number from 1 on");
  return Number(text);
}
