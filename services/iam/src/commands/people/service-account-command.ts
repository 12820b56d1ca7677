import { type Command, Option } from "commander";
import { apiCommand, commandGroup } from "../run/api-command.ts";
import {
  ASKS,
  ASKS_ON_TERMINAL,
  confirmedCommand,
  terminalConfirmedCommand,
} from "../run/confirm-flag.ts";
import { runCommand } from "../run/run-command.ts";

const ACCOUNT = "the id or name of the service account";
const load = () => import("./service-accounts.ts");
const loadKeys = () => import("./service-account-keys.ts");

const audience = () =>
  new Option("--audience <uri...>", "the services that its tokens can be for, as absolute URIs");

/** The commands `svc-iam service-account …`. */
export function serviceAccountCommand(): Command {
  const list = apiCommand("list", "List the service accounts.", {
    isList: true,
    examples: ["svc-iam service-account list"],
  }).action((flags) => runCommand(async () => (await load()).listServiceAccounts(flags)));
  const get = apiCommand("get", "Show a service account.", {
    examples: ["svc-iam service-account get Reporter"],
  })
    .argument("<account>", ACCOUNT)
    .action((given, flags) =>
      runCommand(async () => (await load()).getServiceAccount(given, flags)),
    );
  const create = apiCommand("create", "Create a service account, without keys.", {
    examples: ["svc-iam service-account create Reporter --audience urn:acme:notes"],
  })
    .argument("<name>", "the name that people see")
    .addOption(audience())
    .action((name, flags) =>
      runCommand(async () => (await load()).createServiceAccount(name, flags)),
    );
  const update = apiCommand("update", "Change a service account.", {
    examples: ["svc-iam service-account update Reporter --display-name Reports"],
  })
    .argument("<account>", ACCOUNT)
    .option("--display-name <name>", "the name that people see")
    // Its former name, which scripts have.
    .addOption(new Option("--name <name>").hideHelp().conflicts("displayName"))
    .addOption(audience())
    .option("--etag <etag>", "change nothing if the account was changed since this was read")
    .action((given, flags) =>
      runCommand(async () => (await load()).updateServiceAccount(given, flags)),
    );
  const disable = apiCommand("disable", "Bar a service account from getting tokens.", {
    examples: ["svc-iam service-account disable Reporter"],
  })
    .argument("<account>", ACCOUNT)
    .action((given, flags) =>
      runCommand(async () => (await load()).disableServiceAccount(given, flags)),
    );
  const enable = apiCommand("enable", "Let a service account get tokens again.", {
    examples: ["svc-iam service-account enable Reporter"],
  })
    .argument("<account>", ACCOUNT)
    .action((given, flags) =>
      runCommand(async () => (await load()).enableServiceAccount(given, flags)),
    );
  const remove = confirmedCommand(
    apiCommand("delete", "Delete a service account, with its keys.", {
      details: ASKS,
      examples: [
        "svc-iam service-account delete Reporter",
        "svc-iam service-account delete Reporter --yes",
      ],
    }),
  )
    .argument("<account>", ACCOUNT)
    .action((given, flags) =>
      runCommand(async () => (await load()).deleteServiceAccount(given, flags)),
    );
  return commandGroup(
    "service-account",
    "List, create, change and delete service accounts, and their keys.",
    "Examples:\n  svc-iam service-account create Reporter\n  svc-iam service-account key create Reporter",
    [list, get, create, update, disable, enable, remove, keyCommand()],
  );
}

function keyCommand(): Command {
  const list = apiCommand("list", "List the keys of a service account, without what is secret.", {
    examples: ["svc-iam service-account key list Reporter"],
  })
    .argument("<account>", ACCOUNT)
    .action((given, flags) => runCommand(async () => (await loadKeys()).listKeys(given, flags)));
  const create = apiCommand("create", "Make a secret, or register a public key.", {
    details: `Without --public-key, the secret is written to standard output, once: it cannot be shown again.
JSON has the key as well.`,
    examples: [
      "svc-iam service-account key create Reporter --expires 90d",
      "svc-iam service-account key create Reporter --public-key reporter.pem",
    ],
  })
    .argument("<account>", ACCOUNT)
    .option("--public-key <file>", "a public key as JWK or PEM; - for standard input")
    .option("--expires <time>", "when it ends: 2027-01-01, or a time from now, such as 90d")
    .action((given, flags) => runCommand(async () => (await loadKeys()).createKey(given, flags)));
  const remove = terminalConfirmedCommand(
    apiCommand("delete", "Delete a key: tokens that were issued for it end.", {
      details: ASKS_ON_TERMINAL,
      examples: ["svc-iam service-account key delete Reporter 91ab…"],
    }),
  )
    .argument("<account>", ACCOUNT)
    .argument("<key>", "the id of the key")
    .action((given, key, flags) =>
      runCommand(async () => (await loadKeys()).deleteKey(given, key, flags)),
    );
  return commandGroup(
    "key",
    "List, make and delete the keys of a service account.",
    "Examples:\n  svc-iam service-account key create Reporter",
    [list, create, remove],
  );
}
