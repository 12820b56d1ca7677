/** `npm start`: compiles `examples/hub`, and runs the platform on this machine until Ctrl-C. */
import { runPlatform } from "./start/run-platform.ts";

process.exit(await runPlatform(process.argv.slice(2)));
