import type { BuildOptions } from "esbuild";

/** How esbuild bundles a program for Node.js, as the images contain it. */
export const BUNDLE_OPTIONS = {
  bundle: true,
  // What a configuration does not use, such as a driver, is not loaded.
  splitting: true,
  chunkNames: "[name]-[hash]",
  format: "esm",
  platform: "node",
  target: "node24",
  minifySyntax: true,
  // oidc-provider tells its models apart by the names of their classes, which the bundler drops or changes otherwise.
  keepNames: true,
  minifyWhitespace: true,
  legalComments: "external",
  logLevel: "error",
  // Packages in CommonJS require modules of Node.js, and find files beside their own.
  define: { __dirname: "import.meta.dirname" },
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
} as const satisfies BuildOptions;
