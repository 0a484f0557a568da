/**
 * The command line `wac`: the server, and the operator's commands beside it.
 */
import { Version } from "@wac/http"
import { Effect, Logger, Predicate } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import { campaigns } from "./CampaignsCommand.ts"
import { wrongMasterKey } from "./config/Kept.ts"
import { contacts, eraseCustomer, exportCustomer } from "./CustomersCommand.ts"
import { deliveries } from "./DeliveriesCommand.ts"
import { doctor } from "./DoctorCommand.ts"
import { keys } from "./KeysCommand.ts"
import { mcp } from "./McpCommand.ts"
import { members } from "./MembersCommand.ts"
import { messages } from "./MessagesCommand.ts"
import { migrate } from "./MigrateCommand.ts"
import { numbers } from "./NumbersCommand.ts"
import * as OperatorCommand from "./OperatorCommand.ts"
import { start } from "./StartCommand.ts"
import { templates } from "./TemplatesCommand.ts"
import type { Environment } from "./Variable.ts"
import { webhook } from "./WebhookCommand.ts"
import { workspaces } from "./WorkspacesCommand.ts"

/** Every command of the operator; each is told once, in its own file. */
const wac = Command.make("wac").pipe(
  Command.withDescription("A messaging service: the server, and its operator's commands"),
  Command.withSubcommands([
    start,
    migrate,
    workspaces,
    numbers,
    keys,
    members,
    webhook,
    deliveries,
    messages,
    templates,
    campaigns,
    mcp,
    doctor,
    contacts,
    exportCustomer,
    eraseCustomer
  ]),
  Command.withGlobalFlags([OperatorCommand.Json])
)

/** `LOG_LEVEL` sets the level of the server's log, and no command asks questions. */
const builtIns = [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]

/** Adds to the error of an embedded database in use what to do about it. */
const said = <E>(error: E) =>
  Predicate.isTagged(error, "UnreadableSecret")
    ? wrongMasterKey
    : Predicate.isTagged(error, "OpenError") && error instanceof Error && "isInUse" in error && error.isInUse === true
    ? new OperatorCommand.CannotDo({
      message: `DATABASE_URL: ${error.message}; only one process can use an embedded database: stop the server first`
    })
    : error

/**
 * Runs a command line. A command logs to standard error, so that its result is alone on standard output; the server's
 * log is its output. Returns 0, or 1 if the command line is wrong, which has then been reported. If the command cannot
 * be carried out, fails with an error whose message is one line.
 */
export const run = (environment: Environment, args: ReadonlyArray<string>) =>
  Command.runWith(wac, { version: Version.version })(args).pipe(
    Effect.as(0),
    Effect.catchTag("ShowHelp", () => Effect.succeed(1)),
    Effect.mapError(said),
    Effect.provideService(OperatorCommand.Variables, environment),
    Effect.provideService(CliConfig.CliConfig, { builtIns }),
    Effect.provideService(Logger.LogToStderr, true)
  )
