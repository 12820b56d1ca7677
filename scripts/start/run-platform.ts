import { resolve } from "node:path";
import { addressesOf } from "./addresses.ts";
import { compileHub } from "./compile-hub.ts";
import { Ending } from "./ending.ts";
import { PlatformError } from "./platform-error.ts";
import { PlatformProcess, type Program } from "./platform-process.ts";
import { type Ports, readPorts, requireFreePorts } from "./ports.ts";
import {
  gitProgram,
  hubProgram,
  iamConfigOf,
  iamProgram,
  makeTokens,
  type PlatformPlan,
} from "./programs.ts";
import { seedHub } from "./seed-hub.ts";
import { seedIam } from "./seed-iam.ts";
import { DataFolder, type Seeded } from "./state.ts";
import { summary } from "./summary.ts";
import { untilReady } from "./until-ready.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/**
 * Compiles `examples/hub`, and runs it beside svc-iam until a signal.
 *
 * @param args `--fresh` removes the data of earlier runs
 * @returns the exit code of this process
 */
export async function runPlatform(args: readonly string[]): Promise<number> {
  const ending = new Ending();
  try {
    await run(args, ending);
    await ending.begun();
  } catch (error) {
    // What was under way fails with the end.
    if (!ending.signal.aborted) return report(error);
  } finally {
    await ending.stopAll();
  }
  return ending.problem === undefined ? 0 : report(ending.problem);
}

async function run(args: readonly string[], ending: Ending): Promise<void> {
  const { signal } = ending;
  const isFresh = readFlags(args);
  const ports = readPorts(process.env);
  const iamConfig = iamConfigOf(process.env);
  await requireFreePorts(ports);
  const data = new DataFolder(resolve(ROOT, process.env["DATA"] || "data"));
  if (isFresh) data.remove();
  const state = data.open();
  await compileHub(signal);
  const addresses = addressesOf(ports);
  const plan = { ports, addresses, data, tokens: makeTokens(), iamConfig };
  data.saveSystemToken(plan.tokens.system);
  process.stdout.write("\nStarting svc-iam and the Git service\n");
  const git = start(gitProgram(plan), ports, ending);
  const iam = start(iamProgram(plan), ports, ending);
  // What follows sends tokens there, also the hub to the Git service.
  for (const child of [iam, git]) await ending.untilListening(child);
  await untilReady("svc-iam", addresses.iam, signal);
  let { seeded } = state;
  if (seeded === undefined) {
    process.stdout.write("Making the first users\n");
    const made = await seedIam(plan, state.password, signal);
    await startHub(plan, made.users.alice, ending);
    const { users, account } = made;
    seeded = { users, account, project: await seedHub(plan, made, signal) };
    data.save({ ...state, seeded });
  } else {
    await startHub(plan, seeded.users.alice, ending);
  }
  const { password } = state;
  process.stdout.write(summary({ addresses, data, iamConfig, password, seeded: seeded as Seeded }));
}

function start(program: Program, ports: Ports, ending: Ending): PlatformProcess {
  const child = new PlatformProcess(program);
  ending.watch(child, ports);
  return child;
}

async function startHub(plan: PlatformPlan, owner: string, ending: Ending): Promise<void> {
  process.stdout.write("Starting the hub\n");
  await ending.untilListening(start(hubProgram(plan, owner), plan.ports, ending));
  await untilReady("the hub", plan.addresses.hub, ending.signal);
}

/** @returns whether the data of earlier runs is removed */
function readFlags(args: readonly string[]): boolean {
  const unknown = args.find((argument) => argument !== "--fresh");
  if (unknown === undefined) return args.length > 0;
  throw new PlatformError(`${unknown} is not an option: npm start, or npm start -- --fresh`, 2);
}

function report(error: unknown): 1 | 2 {
  const isForeseen = error instanceof PlatformError;
  const { message, stack = message } = error as Error;
  process.stderr.write(`npm start: ${isForeseen ? message : stack}\n`);
  return isForeseen ? error.exitCode : 1;
}
