/**
 * The command line `wac`: the server, and the operator's commands beside it.
 */
import { Version } from "@wac/http"
import { Console, Effect, Logger, Predicate } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import { campaigns } from "./CampaignsCommand.ts"
import { wrongMasterKey } from "./config/Storage.ts"
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
import type { Environment } from "./VariableText.ts"
import { webhook } from "./WebhookCommand.ts"
import { workspaces } from "./WorkspacesCommand.ts"

/** Every command. Each is defined in its own file. */
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

/** The flags that the library adds: not for the log's level, which `LOG_LEVEL` sets, nor for interactive questions. */
const builtIns = [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]

const inOneLine = (text: string): string => text.split("\n").map((line) => line.trim()).filter(Boolean).join(" ")

/** Presents a wrong command line to programs: as an error of a command, with no help where the result would be. */
const presenterForPrograms: CliOutput.Presenter = {
  present: (event) => {
    if (event._tag === "Version" || event._tag === "Help" && event.reason === "Requested") {
      return CliOutput.defaultPresenter.present(event)
    }
    const message = event._tag === "Help"
      ? `${event.commandPath.join(" ")} needs a subcommand: --help lists them`
      : event.errors.map((error) => inOneLine(error.message)).join("; ")
    return Console.error(JSON.stringify({ error: { message } }))
  }
}

/** Adds the remedy to the errors of a wrong master key and of an embedded database in use. */
const withRemedy = <E>(error: E) =>
  Predicate.isTagged(error, "UnreadableSecret")
    ? wrongMasterKey
    : Predicate.isTagged(error, "OpenError") && error instanceof Error && "isInUse" in error && error.isInUse === true
    ? new OperatorCommand.CannotDo({
      message: `DATABASE_URL: ${error.message}; only one process can use an embedded database: stop the server first`
    })
    : error

/**
 * Runs a command line. A command logs to standard error, so that standard output has only its result; the server's
 * output is its log. Returns 0, or 1 if the command line is wrong, which has then been reported. Fails with an error
 * whose message is one line if the command cannot be carried out.
 */
export const run = (environment: Environment, args: ReadonlyArray<string>) =>
  Command.runWith(wac, { version: Version.version })(args).pipe(
    Effect.as(0),
    Effect.catchTag("ShowHelp", () => Effect.succeed(1)),
    Effect.mapError(withRemedy),
    Effect.provideService(OperatorCommand.Variables, environment),
    Effect.provideService(CliConfig.CliConfig, { builtIns }),
    Effect.provideService(
      CliOutput.Presenter,
      args.includes("--json") ? presenterForPrograms : CliOutput.defaultPresenter
    ),
    Effect.provideService(Logger.LogToStderr, true)
  )
