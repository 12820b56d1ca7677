import { Command } from "commander";
export function explainCommand(): Command {
  return new Command("explain");
}
