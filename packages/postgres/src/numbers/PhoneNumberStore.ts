/**
 * `PhoneNumberStore` in PostgreSQL: combines the operations of this folder (`PhoneNumberStep`) and adds the short
 * statements.
 */
import { type PhoneNumber, type PhoneNumberStep as Step, PhoneNumberStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { columns } from "../Columns.ts"
import { Database } from "../Database.ts"
import { configuring } from "../Settings.ts"
import { first, type Row } from "../Statement.ts"
import * as PhoneNumberStep from "./PhoneNumberStep.ts"
import { credentials, numberRow, own } from "./StoredNumber.ts"

/** The operator's settings. */
const settings = own.pick("providerAccountId", "tier", "messagingLimit", "available")

/** The condition for numbers with this name. Its parameters come first. */
const isNamed = (name: PhoneNumber.NumberName): readonly [condition: string, ...params: ReadonlyArray<string>] => {
  if ("providerNumberId" in name) return ["provider_number_id = $1", name.providerNumberId]
  const { phoneNumber, providerAccountId } = name
  return phoneNumber === undefined
    ? ["provider_account_id = $1", providerAccountId]
    : ["provider_account_id = $1 and phone_number = $2", providerAccountId, phoneNumber]
}

const versioned = credentials.and(columns<Pick<Step.SealedCredentials, "version">>({ version: "text" }))

const credentialsOf = (row: Row): Step.SealedCredentials => {
  const { ciphertext, keyId, nonce, ...others } = versioned.read(row)
  return { ...others, accessToken: { keyId, nonce, ciphertext } }
}

export const layer = Layer.effect(
  PhoneNumberStore.PhoneNumberStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const add = yield* stepped("PhoneNumberStore.add", PhoneNumberStep.add)
    const remove = yield* stepped("PhoneNumberStore.remove", PhoneNumberStep.remove)
    const assign = yield* stepped("PhoneNumberStore.assign", PhoneNumberStep.assign)
    const observe = yield* stepped("PhoneNumberStore.observe", PhoneNumberStep.observe)
    const setCredentials = yield* stepped("PhoneNumberStore.setCredentials", PhoneNumberStep.setCredentials)

    return PhoneNumberStore.PhoneNumberStore.of({
      add,
      remove,
      assign: (id, to) => Effect.asVoid(assign({ id, ...to })),
      list: (id) =>
        Effect.map(
          query("PhoneNumberStore.list", {
            text: `select to_json(p) as number from wac.phone_numbers p where workspace_id = $1
            order by is_default desc, id`,
            params: [id]
          }),
          (rows) => rows.map((row) => numberRow.read(row).number)
        ),
      named: (name) => {
        const [condition, ...params] = isNamed(name)
        return Effect.map(
          query("PhoneNumberStore.named", {
            text: `select to_json(p) as number from wac.phone_numbers p where ${condition} order by id`,
            params
          }),
          (rows) => rows.map((row) => numberRow.read(row).number)
        )
      },
      configure: configuring(query, "PhoneNumberStore.configure", "wac.phone_numbers", settings),
      observe,
      credentials: (id) =>
        Effect.map(
          query("PhoneNumberStore.credentials", {
            text: `select p.credentials_version as version, ${credentials.names("c")}
            from wac.phone_number_credentials c join wac.phone_numbers p on p.id = c.phone_number_id
            where c.phone_number_id = $1`,
            params: [id]
          }),
          first(credentialsOf)
        ),
      setCredentials
    })
  })
)
