/** The protoc plugin from these sources, without a build. */
import { main } from "../../src/plugin/protoc-main.ts";

await main();
