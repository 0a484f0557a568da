/**
 * SQL that finds what sends from a number to a customer have spent (core's `Limits.pairBucket`).
 */
import { type Id, Limits } from "@wac/core"

const places = { "{number}": "number", "{customer}": "customer" } as const

/** {@link Limits.pairBucket} in SQL, of expressions for its two parts. */
const pairBucket = (of: { readonly number: string; readonly customer: string }): string =>
  Limits.pairBucket("{number}" as Id.PhoneNumberId, "{customer}")
    .split(/(\{\w+\})/)
    .filter((part) => part !== "")
    .map((part) => part in places ? of[places[part as keyof typeof places]] : `'${part}'`)
    .join(" || ")

/**
 * The buckets of a customer with a number, as `b`, under all keys that the customer may have (`Contact.keysOf`): `n` is
 * the contact, if there is one. A lookup for each, since for an array of keys PostgreSQL makes a bitmap, which takes
 * longer.
 */
export const pairs = (number: string, customer: string): string =>
  `(
      select b.* from wac.buckets b where b.key = ${pairBucket({ number, customer: `coalesce(n.key, ${customer})` })}
      union all
      select b.* from wac.buckets b
      where n.user_id <> n.key and b.key = ${pairBucket({ number, customer: "n.user_id" })}
      union all
      select b.* from json_array_elements_text(n.aliases) a (name)
      cross join lateral (
        select b.* from wac.buckets b where b.key = ${pairBucket({ number, customer: "a.name" })} offset 0
      ) b
    ) b`
