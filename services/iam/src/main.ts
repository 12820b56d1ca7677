#!/usr/bin/env node
/** The command `svc-iam`. */
import { enableCompileCache } from "node:module";

// Compiled code is kept between starts: most of a small command is loading.
enableCompileCache();
const { createProgram } = await import("./program.ts");

await createProgram().parseAsync();
