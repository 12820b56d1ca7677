import { readFileSync, statSync } from "node:fs";
import { StartUpError } from "svc-access/runtime";
import { PageDesign } from "./page-design.ts";

/** The section `iam.pages`. */
export interface PagesConfig {
  /** The name of the product. */
  readonly name: string;
  /** The file of its logo. */
  readonly logo_file?: string | undefined;
}

/** It is a part of every page. */
const MOST_BYTES = 64 * 1024;

/** How files of the types begin. SVG is text, and is shown as a picture, which runs no scripts. */
const TYPES: readonly (readonly [type: string, begins: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/webp", /^RIFF[\s\S]{4}WEBP/],
  [
    "image/svg+xml",
    /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[\s\S]*?\?>\s*)?(?:<!--[\s\S]*?-->\s*)*<svg[\s>]/,
  ],
];

/**
 * The look of the pages, from the configuration.
 *
 * @throws StartUpError if the logo cannot be read, or is not a picture that pages can show
 */
export function readPageDesign({ name, logo_file: file }: PagesConfig): PageDesign {
  return new PageDesign({ name, ...(file === undefined ? {} : { logo: readLogo(file) }) });
}

function readLogo(file: string): string {
  const content = contentOf(file);
  const type = TYPES.find(([, begins]) => begins.test(content.toString("latin1")))?.[0];
  if (type === undefined) {
    throw problem(file, "is not a PNG, JPEG, WebP or SVG picture: name another file");
  }
  return `data:${type};base64,${content.toString("base64")}`;
}

function contentOf(file: string): Buffer {
  try {
    // Before it is read: it may be large, and a pipe would wait for its writer.
    const stats = statSync(file);
    if (!stats.isFile() && !stats.isDirectory()) {
      throw problem(file, "is a pipe, a device or a socket: name a file");
    }
    if (stats.size > MOST_BYTES) {
      throw problem(
        file,
        `has more than ${MOST_BYTES} bytes, and is sent with every page: make it smaller`,
      );
    }
    return readFileSync(file);
  } catch (error) {
    if (error instanceof StartUpError) throw error;
    throw problem(
      file,
      `cannot be read (${(error as NodeJS.ErrnoException).code}): name a file that exists, and that the user of this process may read`,
    );
  }
}

function problem(file: string, text: string): StartUpError {
  return new StartUpError([`iam.pages.logo_file (${file}) ${text}`]);
}
