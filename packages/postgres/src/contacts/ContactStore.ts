/**
 * `ContactStore` in PostgreSQL: combines the operations of this folder (`ContactStep`) and adds the short statements.
 */
import { Contact, ContactStore, type Id, Page } from "@wac/core"
import { Effect, Layer } from "effect"
import { columns, integer, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import { combined, first, ifGiven, type Statement, statement, value, variants } from "../Statement.ts"
import { insertOne, select } from "../TableStatements.ts"
import { contact, contactNamed, contactOf, words, wordsOf } from "./ContactStep.ts"
import * as ContactStep from "./ContactStep.ts"

const workspaceId = value<Id.WorkspaceId>()

const name = value<string>()

const get = statement({ workspaceId, phoneNumberId: value<Id.PhoneNumberId>(), name }, (given) => `
  select ${contact.names("c")} from (${contactNamed(given.phoneNumberId, given.name)}) c
  where c.workspace_id = ${given.workspaceId}`)

const limit = value<number>()

/** Lists the stored opt-outs that have a name, in the order of the index of names. */
const listStored = variants(
  { workspaceId, limit },
  { after: combined({ name, phoneNumberId: value<string>() }) },
  ({ limit, workspaceId }, { after }) =>
    `select s.name, nullif(s.phone_number_id, '') as phone_number_id, s.at, s.source from wac.suppressions s
  where s.workspace_id = ${workspaceId} and s.name is not null and s.opted_out${
      after === undefined ? "" : ` and (s.name, s.phone_number_id) > (${after.name}, ${after.phoneNumberId})`
    }
  order by s.name, s.phone_number_id limit ${limit}`
)

/** The position of a contact in a list: a page continues after it. */
const place = combined({ phoneNumberId: value<string>(), name })

/** The condition that a contact comes after a position; empty if there is none. */
const isAfter = (after: ReturnType<typeof place.given> | undefined): string =>
  after === undefined ? "" : ` and (c.phone_number_id, c.key) > (${after.phoneNumberId}, ${after.name})`

/** Lists the opt-outs that only contacts record, without those that {@link listStored} lists. */
export const listUncovered = variants(
  { workspaceId, limit },
  { after: place },
  ({ limit, workspaceId }, { after }) =>
    `select c.key as name, c.phone_number_id, c.preference_at as at, null as source from wac.contacts c
  where c.workspace_id = ${workspaceId} and c.key > ''${isAfter(after)}
    and c.opted_out and not exists (
      select from wac.suppressions s
      where s.workspace_id = ${workspaceId} and s.name in (c.key, c.user_id) and s.opted_out
        and s.phone_number_id in ('', c.phone_number_id)
    )
  order by c.phone_number_id, c.key limit ${limit}`
)

const countErased = statement({ workspaceId }, ({ workspaceId }) => `
  select count(distinct s.hash)::integer as names from wac.suppressions s
  where s.workspace_id = ${workspaceId} and s.opted_out and s.name is null`)

/** A listed opt-out. */
export const optOut = columns<ContactStore.OptOut>({
  name: "text",
  phoneNumberId: "text",
  at: "bigint",
  source: "text"
})

const erased = row({ names: integer() })

const ofWorkspace = row({ workspaceId: text<Id.WorkspaceId>() })

const loadWords = select(words, "wac.opt_out_words", ofWorkspace)

const setWords = insertOne(
  ofWorkspace.and(words),
  "wac.opt_out_words",
  ` on conflict (workspace_id) do update set ${words.set("excluded")}`
)

const named = statement({ workspaceId, name }, ({ name, workspaceId }) => `
  select ${contact.names("c")} from wac.phone_numbers p
  cross join lateral (${contactNamed("p.id", name)}) c
  where p.workspace_id = ${workspaceId} order by p.id`)

/**
 * Lists contacts of a workspace or of one number, from any position. It reads the index `contacts_list`, whose
 * condition is `key > ''`.
 */
export const list = variants(
  { workspaceId, limit },
  { after: place, phoneNumberId: value<string>() },
  ({ limit, workspaceId }, { after, phoneNumberId }) =>
    `select ${contact.names("c")} from wac.contacts c
  where c.workspace_id = ${workspaceId} and c.key > ''${isAfter(after)}${
      ifGiven(phoneNumberId, (id) => ` and c.phone_number_id = ${id}`)
    }
  order by c.phone_number_id, c.key limit ${limit}`
)

export const layer = Layer.effect(
  ContactStore.ContactStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const recordInbound = yield* stepped("ContactStore.recordInbound", ContactStep.recordInbound)
    const setPreference = yield* stepped("ContactStore.setPreference", ContactStep.setPreference)
    const recordNames = yield* stepped("ContactStore.recordNames", ContactStep.recordNames)
    const choose = yield* stepped("ContactStore.choose", ContactStep.choose)
    const move = yield* stepped("ContactStore.move", ContactStep.move)

    return ContactStore.ContactStore.of({
      recordInbound,
      setPreference,
      move,
      recordNames,
      choose,
      optOuts: Effect.fnUntraced(function*(workspaceId, page) {
        const after = page.after === null ? undefined : JSON.parse(page.after) as readonly [string, string, string]
        const part = (name: string, statement: Statement) =>
          Effect.map(
            query("ContactStore.optOuts", statement),
            (rows) => rows.map((row) => ({ part: name, optOut: optOut.read(row) }))
          )
        const limit = page.limit + 1
        const named = after?.[0] === "b" ? [] : yield* part(
          "a",
          listStored({ workspaceId, limit }, { after: after && { name: after[1], phoneNumberId: after[2] } })
        )
        const others = named.length === limit ? [] : yield* part(
          "b",
          listUncovered({ workspaceId, limit: limit - named.length }, {
            after: after?.[0] === "b" ? { phoneNumberId: after[1], name: after[2] } : undefined
          })
        )
        const { items, next } = Page.fromOverread(
          [...named, ...others],
          page,
          ({ optOut, part }) =>
            JSON.stringify(
              part === "a"
                ? [part, optOut.name, optOut.phoneNumberId ?? ""]
                : [part, optOut.phoneNumberId!, optOut.name]
            )
        )
        return { items: items.map(({ optOut }) => optOut), next }
      }),
      countErased: (workspaceId) =>
        Effect.map(query("ContactStore.countErased", countErased({ workspaceId })), ([row]) => erased.read(row!).names),
      words: (workspaceId) =>
        Effect.map(query("ContactStore.words", loadWords({ workspaceId })), ([row]) => wordsOf(row)),
      setWords: (workspaceId, words) =>
        Effect.asVoid(query("ContactStore.setWords", setWords({ workspaceId, ...words }))),
      named: (workspaceId, name) =>
        Effect.map(query("ContactStore.named", named({ workspaceId, name })), (rows) => rows.map(contactOf)),
      get: (workspaceId, phoneNumberId, name) =>
        Effect.map(query("ContactStore.get", get({ workspaceId, phoneNumberId, name })), first(contactOf)),
      list: (workspaceId, { phoneNumberId }, page) => {
        const after = page.after === null ? undefined : Contact.named(page.after)
        return Effect.map(
          query("ContactStore.list", list({ workspaceId, limit: page.limit + 1 }, { after, phoneNumberId })),
          (rows) => Page.fromOverread(rows.map(contactOf), page, Contact.placeOf)
        )
      }
    })
  })
)
