import type { BootstrapLink } from "./bootstrap-links.ts";

/**
 * Continues what was begun with each link, also after one that fails: the job repeats it, and must not leave the
 * others for that.
 *
 * @throws the first error, after all
 */
export async function resumeEach(
  links: readonly BootstrapLink[],
  signal: AbortSignal,
  resume: (link: BootstrapLink) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const link of links) {
    if (signal.aborted) break;
    await resume(link).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}
