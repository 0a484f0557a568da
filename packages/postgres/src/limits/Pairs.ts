/**
 * SQL that finds the token buckets of a pair: a number and a customer (core's `Limits.pairBucket`).
 */
import { type Id, Limits } from "@wac/core"

const places = { "{number}": "number", "{customer}": "customer" } as const

/** An SQL expression for {@link Limits.pairBucket}, given expressions for the number and the customer. */
const pairBucket = (of: { readonly number: string; readonly customer: string }): string =>
  Limits.pairBucket("{number}" as Id.PhoneNumberId, "{customer}")
    .split(/(\{\w+\})/)
    .filter((part) => part !== "")
    .map((part) => part in places ? of[places[part as keyof typeof places]] : `'${part}'`)
    .join(" || ")

/**
 * A subquery `b` of the buckets of a number and a customer, under all keys that the customer may have
 * (`Contact.keysOf`). `n` must be the contact, if there is one. Each key is looked up separately: with an array of
 * keys, PostgreSQL builds a bitmap, which takes longer.
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
