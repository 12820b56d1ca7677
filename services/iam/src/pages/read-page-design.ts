import { readFileSync, statSync } from "node:fs";
import { StartUpError } from "svc-access/runtime";
import { PageDesign } from "./page-design.ts";
import { PageIcon, type Picture } from "./page-icon.ts";
import { pictureType } from "./picture-type.ts";

/** The section `iam.pages`. */
export interface PagesConfig {
  /** The name of the product. */
  readonly name: string;
  /** The file of its logo. */
  readonly logo_file?: string | undefined;
}

/** It is a part of every page. */
const MOST_BYTES = 64 * 1024;

/**
 * The look of the pages, from the configuration.
 *
 * @throws StartUpError if the logo cannot be read, or is not a picture that pages can show
 */
export function readPageDesign({ name, logo_file: file }: PagesConfig): PageDesign {
  const picture = file === undefined ? undefined : readLogo(file);
  const icon = new PageIcon(picture);
  if (picture === undefined) return new PageDesign({ name, icon });
  const { type, content } = picture;
  return new PageDesign({ name, icon, logo: `data:${type};base64,${content.toString("base64")}` });
}

function readLogo(file: string): Picture & { readonly content: Buffer } {
  const content = contentOf(file);
  // SVG is shown as a picture, too, which runs no scripts.
  const type = pictureType(content);
  if (type === undefined) {
    throw problem(
      file,
      'is not a PNG, JPEG or WebP picture, nor SVG with xmlns="http://www.w3.org/2000/svg": name another file',
    );
  }
  return { type, content };
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
