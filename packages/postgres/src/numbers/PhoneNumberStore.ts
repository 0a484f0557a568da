/**
 * `PhoneNumberStore` in PostgreSQL: combines the operations of this folder (`PhoneNumberStep`) and adds the short
 * statements.
 */
import { type Id, type PhoneNumber, type PhoneNumberStep as Step, PhoneNumberStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { columns } from "../Columns.ts"
import { Database } from "../Database.ts"
import { configuring } from "../Settings.ts"
import { first, ifGiven, type Row, type Statement, statement, value, variants } from "../Statement.ts"
import * as PhoneNumberStep from "./PhoneNumberStep.ts"
import { credentials, numberRow, own } from "./StoredNumber.ts"

/** The operator's settings. */
const settings = own.pick("providerAccountId", "tier", "messagingLimit", "available")

const list = statement(
  { workspaceId: value<Id.WorkspaceId>() },
  ({ workspaceId }) =>
    `select to_json(p) as number from wac.phone_numbers p where workspace_id = ${workspaceId}
  order by is_default desc, id`
)

const namedText = (condition: string): string =>
  `select to_json(p) as number from wac.phone_numbers p where ${condition} order by id`

const withProviderNumber = statement(
  { providerNumberId: value<string>() },
  ({ providerNumberId }) => namedText(`provider_number_id = ${providerNumberId}`)
)

const ofAccount = variants(
  { providerAccountId: value<string>() },
  { phoneNumber: value<string>() },
  ({ providerAccountId }, { phoneNumber }) =>
    namedText(
      `provider_account_id = ${providerAccountId}${ifGiven(phoneNumber, (number) => ` and phone_number = ${number}`)}`
    )
)

/** The statement that selects the numbers with this name. */
const named = (name: PhoneNumber.NumberName): Statement =>
  "providerNumberId" in name
    ? withProviderNumber({ providerNumberId: name.providerNumberId })
    : ofAccount({ providerAccountId: name.providerAccountId }, { phoneNumber: name.phoneNumber })

const loadCredentials = statement(
  { id: value<Id.PhoneNumberId>() },
  ({ id }) =>
    `select p.credentials_version as version, ${credentials.names("c")}
  from wac.phone_number_credentials c join wac.phone_numbers p on p.id = c.phone_number_id
  where c.phone_number_id = ${id}`
)

const versioned = credentials.and(columns<Pick<Step.SealedCredentials, "version">>({ version: "text" }))

const credentialsOf = (row: Row): Step.SealedCredentials => {
  const { ciphertext, keyId, nonce, ...others } = versioned.read(row)
  return { ...others, accessToken: { keyId, nonce, ciphertext } }
}

export const layer = Layer.effect(
  PhoneNumberStore.PhoneNumberStore,
  Effect.gen(function*() {
    const { planned, query, stepped } = yield* Database
    const add = yield* stepped("PhoneNumberStore.add", PhoneNumberStep.add)
    const retire = yield* stepped("PhoneNumberStore.remove", PhoneNumberStep.retire)
    const removeLast = yield* stepped("PhoneNumberStore.remove", PhoneNumberStep.remove)
    const assign = yield* stepped("PhoneNumberStore.assign", PhoneNumberStep.assign)
    const observe = yield* stepped("PhoneNumberStore.observe", PhoneNumberStep.observe)
    const setCredentials = yield* stepped("PhoneNumberStore.setCredentials", PhoneNumberStep.setCredentials)

    const configure = configuring(query, "PhoneNumberStore.configure", "wac.phone_numbers", settings)

    return PhoneNumberStore.PhoneNumberStore.of({
      add: (number, credentials) => add({ number, credentials }),
      // one statement cannot delete millions of rows in time, and would lock the workspace meanwhile
      remove: Effect.fnUntraced(function*(id) {
        if (!(yield* retire(id))) return false
        for (const part of PhoneNumberStep.removeParts(id)) {
          // a part may be smaller than possible, since rows that change meanwhile are left
          while (PhoneNumberStep.removedIn(yield* planned("PhoneNumberStore.remove", part)) > 0);
        }
        return yield* removeLast(id)
      }),
      assign: (id, to) => Effect.asVoid(assign({ id, ...to })),
      list: (workspaceId) =>
        Effect.map(
          query("PhoneNumberStore.list", list({ workspaceId })),
          (rows) => rows.map((row) => numberRow.read(row).number)
        ),
      named: (name) =>
        Effect.map(
          query("PhoneNumberStore.named", named(name)),
          (rows) => rows.map((row) => numberRow.read(row).number)
        ),
      configure,
      observe,
      credentials: (id) =>
        Effect.map(query("PhoneNumberStore.credentials", loadCredentials({ id })), first(credentialsOf)),
      setCredentials
    })
  })
)
