const NAME = "buf-plugin-svc-access";

/**
 * How `buf.yaml` names the check plugin: a program on PATH, or a program and its arguments.
 *
 * On Windows, npm starts a program with the interpreter in its first line, here a shell, which few
 * machines have. Node.js can run the same file.
 *
 * @param installed - where this package is installed, relative to the repository
 */
export function checkPluginCommand(
  installed: string,
  platform: NodeJS.Platform = process.platform,
): string | string[] {
  return platform === "win32" ? ["node", `${installed}/bin/${NAME}`] : NAME;
}
