import { type PhoneNumber, type PhoneNumberStep, PhoneNumberStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { Hex } from "effect/encoding"
import { plain } from "../Column.ts"
import { Database } from "../Database.ts"
import { configuring } from "../Settings.ts"
import type { Row } from "../Statement.ts"

const phoneNumberOf = (row: Row): PhoneNumber.PhoneNumber => plain(row, "number")

/** The columns behind the fields of the operator's settings. */
const settingColumns = {
  providerAccountId: "provider_account_id",
  tier: "tier",
  messagingLimit: "messaging_limit",
  available: "available"
} as const

/** The condition that a number of that name meets, whose parameters come first. */
const isNamed = (name: PhoneNumber.NumberName): readonly [condition: string, ...params: ReadonlyArray<string>] => {
  if ("providerNumberId" in name) return ["provider_number_id = $1", name.providerNumberId]
  const { phoneNumber, providerAccountId } = name
  return phoneNumber === undefined
    ? ["provider_account_id = $1", providerAccountId]
    : ["provider_account_id = $1 and phone_number = $2", providerAccountId, phoneNumber]
}

const changeOf = ({ block, ...others }: PhoneNumber.NumberChange) => ({
  ...others,
  ...(block === undefined ? {} : {
    block: block && {
      ...block,
      // as text: it may hold what PostgreSQL can keep in JSON, and cannot read
      provider: block.provider && JSON.stringify(block.provider)
    }
  })
})

const storedCredentials = ({ accessToken, ...others }: PhoneNumberStep.SealedCredentials) => ({
  ...others,
  keyId: accessToken.keyId,
  nonce: Hex.encode(accessToken.nonce),
  ciphertext: Hex.encode(accessToken.ciphertext)
})

const credentialsOf = (row: Row): PhoneNumberStep.SealedCredentials => ({
  version: plain(row, "version"),
  accessToken: {
    keyId: plain(row, "key_id"),
    nonce: plain(row, "nonce"),
    ciphertext: plain(row, "ciphertext")
  },
  baseUrl: plain(row, "base_url"),
  apiVersion: plain(row, "api_version")
})

export const layer = Layer.effect(
  PhoneNumberStore.PhoneNumberStore,
  Effect.map(Database, ({ query }) =>
    PhoneNumberStore.PhoneNumberStore.of({
      add: (number) =>
        Effect.map(
          query("PhoneNumberStore.add", "select wac_add_phone_number($1::text::json) as added", [
            JSON.stringify(number)
          ]),
          ([row]) => plain<boolean>(row!, "added")
        ),
      remove: (id) =>
        Effect.map(
          query("PhoneNumberStore.remove", "select wac_remove_phone_number($1) as found", [id]),
          ([row]) => plain<boolean>(row!, "found")
        ),
      assign: (id, { provider, providerAccountId }) =>
        Effect.asVoid(
          query("PhoneNumberStore.assign", "select wac_assign_phone_number($1, $2, $3)", [
            id,
            provider,
            providerAccountId
          ])
        ),
      list: (id) =>
        Effect.map(
          query(
            "PhoneNumberStore.list",
            `select wac_phone_number(p) as number from phone_numbers p where workspace_id = $1
            order by is_default desc, id`,
            [id]
          ),
          (rows) => rows.map(phoneNumberOf)
        ),
      named: (name) => {
        const [condition, ...params] = isNamed(name)
        return Effect.map(
          query(
            "PhoneNumberStore.named",
            `select wac_phone_number(p) as number from phone_numbers p where ${condition} order by id`,
            params
          ),
          (rows) => rows.map(phoneNumberOf)
        )
      },
      configure: configuring(query, "PhoneNumberStore.configure", "phone_numbers", settingColumns),
      observe: ({ at, change, name }) => {
        const [condition, ...params] = isNamed(name)
        const { length } = params
        return Effect.map(
          query(
            "PhoneNumberStore.observe",
            `select wac_observe_phone_numbers(array(select id from phone_numbers where ${condition}), $${length + 1},
              $${length + 2}::text::json) as count`,
            [...params, at, JSON.stringify(changeOf(change))]
          ),
          ([row]) => plain<number>(row!, "count")
        )
      },
      credentials: (id) =>
        Effect.map(
          query(
            "PhoneNumberStore.credentials",
            `select p.credentials_version as version, c.key_id, c.nonce, c.ciphertext, c.base_url, c.api_version
            from phone_number_credentials c join phone_numbers p on p.id = c.phone_number_id
            where c.phone_number_id = $1`,
            [id]
          ),
          ([row]) => Option.map(Option.fromUndefinedOr(row), credentialsOf)
        ),
      setCredentials: ({ credentials, id, now }) =>
        Effect.map(
          query("PhoneNumberStore.setCredentials", "select wac_set_credentials($1, $2, $3::text::json) as found", [
            id,
            now,
            JSON.stringify(credentials && storedCredentials(credentials))
          ]),
          ([row]) => plain<boolean>(row!, "found")
        )
    }))
)
