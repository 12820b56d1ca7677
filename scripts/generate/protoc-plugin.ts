/** The protoc plugin as these sources have it, without a build. */
import { main } from "../../src/plugin/protoc-main.ts";

await main();
