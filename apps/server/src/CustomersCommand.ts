/**
 * The commands `export` and `erase`, for everything that is stored about one customer of a workspace, and `contacts`,
 * for customers' wishes. They work on `DATABASE_URL` directly, while servers run on it.
 */
import { CustomerNames, Customers, MediaBytes, OptOuts, StoreError } from "@wac/core"
import { Console, Effect, Layer, Schema, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as OperatorCommand from "./OperatorCommand.ts"
import { storageConfigFromEnvironment } from "./ServerConfig.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

const customer = Argument.String("customer").pipe(
  Argument.withDescription("The customer's phone number (+14155550123), or their user id at the provider"),
  Argument.withSchema(Schema.String.check(Schema.isPattern(CustomerNames.pattern)))
)

/** Prints a line of JSON for each record. */
const exportOne = Command.make(
  "export",
  { customer, workspace: WorkspaceChoice.flag },
  Effect.fnUntraced(function*({ customer, workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const customers = yield* Customers.Customers
    yield* Stream.runForEach(customers.export(id, customer), (record) => Console.log(JSON.stringify(record)))
  })
).pipe(Command.withDescription("Print everything that is stored of a customer, a line of JSON for each record"))

const eraseOne = Command.make(
  "erase",
  { customer, workspace: WorkspaceChoice.flag },
  Effect.fnUntraced(function*({ customer, workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const erasure = yield* Customers.Customers.use((customers) => customers.erase(id, customer))
    const found = Object.entries(erasure).filter(([, count]) => count > 0)
    yield* OperatorCommand.printed(
      erasure,
      found.length === 0
        ? "nothing of this customer was stored"
        : `erased: ${found.map(([place, count]) => `${place} ${count}`).join(", ")}`
    )
  })
).pipe(Command.withDescription("Erase everything that is stored of a customer; an opt-out stays, as a keyed hash"))

const elsewhere = new StoreError.StoreError({ operation: "MediaBytes.remove" })

/**
 * The bytes of files, which without `MEDIA_STORE` are not known to be here: the servers may keep them in an object
 * store that only their variables name. So the command deletes what is here, and never takes a file's bytes for deleted:
 * the servers do that again where they keep them, and forget the file.
 */
const mediaBytes = Layer.unwrap(Effect.gen(function*() {
  const { mediaStore } = yield* storageConfigFromEnvironment(yield* OperatorCommand.Variables)
  const here = yield* MediaBytes.MediaBytes
  const remove: MediaBytes.MediaBytes["Service"]["remove"] = (file) =>
    Effect.filterOrFail(here.remove(file), (isMore) => isMore, () => elsewhere)
  return Layer.succeed(MediaBytes.MediaBytes, mediaStore === undefined ? { ...here, remove } : here)
}))

const provided = <Name extends string, Input, E, R>(command: Command.Command<Name, Input, {}, E, R>) =>
  Command.provide(
    Command.provide(command, Layer.provide(Customers.Customers.layer, mediaBytes)),
    OperatorCommand.opened
  )

const optOutOne = Command.make(
  "opt-out",
  {
    customer,
    end: Flag.Boolean("end").pipe(Flag.withDescription("Opt the customer in instead"), Flag.withDefault(false)),
    workspace: WorkspaceChoice.flag
  },
  Effect.fnUntraced(function*({ customer, end, workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const optOuts = yield* OptOuts.OptOuts
    const preference = end ? "opt_in" : "opt_out"
    const { isNew } = yield* optOuts.choose(id, { name: customer, preference, source: "person" })
    const action = end ? "contact.opt_in" : "contact.opt_out"
    yield* OperatorCommand.audited(id, { action, target: yield* optOuts.hashOf(customer) })
    const state = end ? "opted in" : "opted out"
    yield* OperatorCommand.printed(
      { contact: customer, optedOut: !end, isNew },
      isNew ? `the customer is ${state}` : `the customer was ${end ? "not opted out" : "opted out"} before`
    )
  })
).pipe(Command.withDescription("Opt a customer out for every number of a workspace, or in with --end"))

/** The customers of a workspace. */
export const contacts = Command.make("contacts").pipe(
  Command.withDescription("Customers' wishes"),
  Command.withSubcommands([
    Command.provide(Command.provide(optOutOne, OptOuts.OptOuts.layer), OperatorCommand.opened)
  ])
)

/** {@link exportOne}, with the storage of `DATABASE_URL`. */
export const exportCustomer = provided(exportOne)

/** {@link eraseOne}, with the storage of `DATABASE_URL`. */
export const eraseCustomer = provided(eraseOne)
